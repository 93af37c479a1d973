import type { Pool } from 'pg';

const everyMs = 60_000;
const batch = 1000;

/** Deletes old rows of a table from time to time, a batch at a time, on the back of other work. */
export class PeriodicDelete {
  private nextMs = Date.now() + everyMs;

  /** `condition` is SQL from the code, never from outside. */
  constructor(
    private readonly pool: Pool,
    private readonly table: string,
    private readonly condition: string,
  ) {}

  /** Deletes a batch when the last one is a minute ago. */
  async sometimes(): Promise<void> {
    const now = Date.now();
    if (now < this.nextMs) return;
    this.nextMs = now + everyMs;
    // While there is more than a batch, the next one comes soon.
    if ((await this.now()) === batch) this.nextMs = now + everyMs / 60;
  }

  /** Deletes a batch; answers how many rows it was. */
  async now(): Promise<number> {
    const { table, condition } = this;
    const old = `select ctid from ${table} where ${condition} limit ${batch} for update skip locked`;
    const { rowCount } = await this.pool.query(`delete from ${table} where ctid in (${old}) and ${condition}`);
    return rowCount ?? 0;
  }
}
