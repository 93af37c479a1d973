import { createHash } from 'node:crypto';
import { linkFailures, reasonOf } from '../connections/describeFailure';
import type { Row } from './row';
import type { TreeContext } from './treeContext';

/** A node of the tree: something that is drawn as a row and may have children. It stays the same object across refreshes. */
export abstract class TreeNode {
  constructor(
    /** A path, unique in the whole tree and the same across refreshes and sessions. */
    readonly id: string,
    public parent: TreeNode | undefined,
    protected readonly context: TreeContext,
  ) {}

  abstract row(): Row;

  /** The children; loaded when first asked and again after `markStale`. Never rejects: a failure is a child too. */
  children(): Promise<readonly TreeNode[]> {
    return Promise.resolve([]);
  }

  /** Makes the next `children()` read again, here and below. */
  markStale(): void {
    // A leaf is drawn from what its parent read.
  }
}

/**
 * Where a child of a kind and name lives. Names may hold any bytes, so they are written as JSON, which keeps all of them apart; a very
 * long one by its digest, since every id holds those of all above it.
 */
export function childId(parent: string, kind: string, name: string): string {
  const written = JSON.stringify(name);
  const short = written.length > 1000 ? createHash('sha256').update(written).digest('base64url') : written;
  return `${parent}/${kind}:${short}`;
}

/** Keeps the objects of children by name across loads, so that what is still there stays the same object with new facts. */
export class ChildPool<Facts, Child extends { facts: Facts }> {
  private known = new Map<string, Child>();

  /** The children for a newly read list, each name once; those that are not in it any more are forgotten. */
  adopt(list: readonly Facts[], nameOf: (facts: Facts) => string, make: (facts: Facts) => Child): readonly Child[] {
    const next = new Map<string, Child>();
    for (const facts of list) {
      const name = nameOf(facts);
      const child = this.known.get(name) ?? make(facts);
      child.facts = facts;
      next.set(name, child);
    }
    this.known = next;
    return [...next.values()];
  }
}

/** A node whose children are read from a server. */
export abstract class BranchNode extends TreeNode {
  private loaded: readonly TreeNode[] = [];
  private isFresh = false;
  private loading: { readonly version: number; readonly done: Promise<readonly TreeNode[]> } | undefined;
  private version = 0;

  /** Reads the children anew; what it throws becomes an error row. */
  protected abstract load(): Promise<readonly TreeNode[]>;

  /** The row for a failed load. */
  protected abstract failed(error: unknown, hasOldChildren: boolean): TreeNode;

  /** The children as they were last read, without reading. */
  get knownChildren(): readonly TreeNode[] {
    return this.loaded;
  }

  /** A failure is never kept: the next call reads again. What was read before stays below the error. */
  override async children(): Promise<readonly TreeNode[]> {
    if (this.isFresh) return this.loaded;
    if (this.loading?.version !== this.version) this.loading = this.start();
    return this.loading.done;
  }

  override markStale(): void {
    this.version += 1;
    this.isFresh = false;
    for (const child of this.loaded) child.markStale();
  }

  private start(): { readonly version: number; readonly done: Promise<readonly TreeNode[]> } {
    const { version } = this;
    const started = { version, done: this.reload(version) };
    void started.done.finally(() => {
      if (this.loading === started) this.loading = undefined;
    });
    return started;
  }

  private async reload(version: number): Promise<readonly TreeNode[]> {
    try {
      this.loaded = await this.load();
      this.isFresh = version === this.version;
      return this.loaded;
    } catch (error) {
      // Only a broken link says nothing about what was there; any other failure makes the old rows wrong.
      if (!linkFailures.has(reasonOf(error))) this.loaded = [];
      return [this.failed(error, this.loaded.length > 0), ...this.loaded];
    }
  }
}
