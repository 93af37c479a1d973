import type { StoreChoice } from '../app/appOptions';
import { MemoryRunStore } from './memoryRunStore';
import type { RunStore } from './runStore';

/** Opens the store of an environment's runs. PostgreSQL is connected to and migrated; rejects when it cannot be. */
export async function openRunStore(choice: StoreChoice, env: string): Promise<RunStore> {
  if (choice.kind === 'memory') return new MemoryRunStore();
  const { openPostgresRunStore } = await import('./postgresRunStore');
  return openPostgresRunStore(choice.databaseUrl, env);
}
