import type { Clock } from '../../base/clock';

/** What a cut link loses: the requests that were on their way, or only the replies to what the server still carries out. */
export type Loss = 'requests' | 'replies';

/** Something that feels the state of the network of its process. */
export interface NetworkMember {
  /** The link is cut now. */
  cut(loss: Loss): void;
  /** The process is gone: nothing of it settles any more. */
  vanish(): void;
}

/** The network of one simulated process: up, cut, or gone with the process. Its clock stops with the process. */
export class ProcessNetwork {
  private readonly members = new Set<NetworkMember>();
  private cuts = 0;
  private isGone = false;
  readonly clock: Clock;

  constructor(
    readonly name: string,
    clock: Clock,
  ) {
    this.clock = {
      now: () => clock.now(),
      after: (delayMs, callback) =>
        clock.after(delayMs, () => {
          if (!this.isGone) callback();
        }),
    };
  }

  get state(): 'up' | 'cut' | 'gone' {
    if (this.isGone) return 'gone';
    return this.cuts > 0 ? 'cut' : 'up';
  }

  join(member: NetworkMember): () => void {
    this.members.add(member);
    return () => {
      this.members.delete(member);
    };
  }

  /** Cuts every link of the process and keeps new ones from being made until the returned function is called. */
  cut(loss: Loss): () => void {
    this.cuts += 1;
    for (const member of [...this.members]) member.cut(loss);
    let isHealed = false;
    return () => {
      if (!isHealed) this.cuts -= 1;
      isHealed = true;
    };
  }

  /** Ends the process as SIGKILL does. */
  vanish(): void {
    this.isGone = true;
    for (const member of [...this.members]) member.vanish();
    this.members.clear();
  }
}
