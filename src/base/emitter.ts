import type { Disposable } from './disposables';

/** A typed event source: `event` subscribes, `fire` calls every listener in the order of subscription. */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => void>();

  /** Subscribes a listener until the returned disposable is disposed. */
  readonly event = (listener: (value: T) => void): Disposable => {
    const own = (value: T): void => {
      listener(value);
    };
    this.listeners.add(own);
    return { dispose: () => this.listeners.delete(own) };
  };

  get listenerCount(): number {
    return this.listeners.size;
  }

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}
