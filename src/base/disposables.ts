/** Something that holds a resource until it is disposed. */
export interface Disposable {
  dispose(): unknown;
}

/** A list of disposables that are disposed together, last first; what is added after that is disposed at once. */
export class Disposables implements Disposable {
  private items: Disposable[] = [];
  private isDisposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.isDisposed) item.dispose();
    else this.items.push(item);
    return item;
  }

  dispose(): void {
    this.isDisposed = true;
    const items = this.items.reverse();
    this.items = [];
    for (const item of items) item.dispose();
  }
}
