import { inTransaction, migrate, openPool } from '../postgres/pool';
import { asDatabaseError, asStoreFailure } from '../runs/postgresFailure';
import type { Migration } from '../postgres/pool';

/** How far a student is. */
export interface Progress {
  /** Lessons that were completed, each counted once. */
  readonly completed: number;
  readonly lessonIds: readonly string[];
}

/** Keeps which lessons were completed. */
export interface LessonStore {
  /**
   * Records a completion and counts it, both or neither. False when it was recorded before: then nothing is counted. Rejects with a
   * `StoreUnavailableError` when asking again may help.
   */
  complete(completion: { readonly studentId: string; readonly lessonId: string }): Promise<boolean>;
  progressOf(studentId: string): Promise<Progress>;
  close(): Promise<void>;
}

/** Keeps completions in this process, for trying. */
export function memoryLessonStore(): LessonStore {
  const lessons = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  return {
    complete: ({ studentId, lessonId }) => {
      const of = lessons.get(studentId) ?? new Set();
      lessons.set(studentId, of);
      if (of.has(lessonId)) return Promise.resolve(false);
      of.add(lessonId);
      counts.set(studentId, (counts.get(studentId) ?? 0) + 1);
      return Promise.resolve(true);
    },
    progressOf: (studentId) =>
      Promise.resolve({
        completed: counts.get(studentId) ?? 0,
        lessonIds: [...(lessons.get(studentId) ?? [])].sort(),
      }),
    close: () => Promise.resolve(),
  };
}

/** The constraint carries the promise: a student completes a lesson once. The count beside it is what a naive handler gets wrong. */
export const lessonMigrations: readonly Migration[] = [
  {
    name: 'lessons-1',
    sql: `
      create table lesson_completions (
        student_id text not null,
        lesson_id text not null,
        completed_at timestamptz not null default now(),
        unique (student_id, lesson_id)
      );
      create table lesson_progress (
        student_id text primary key,
        completed integer not null default 0
      );
    `,
  },
];

/** Connects, brings the tables up to date and answers the store. */
export async function openPostgresLessonStore(databaseUrl: string): Promise<LessonStore> {
  const pool = openPool(databaseUrl);
  try {
    await migrate(pool, lessonMigrations);
  } catch (error) {
    await pool.end();
    throw asDatabaseError(error);
  }
  return {
    complete: ({ studentId, lessonId }) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'insert into lesson_completions (student_id, lesson_id) values ($1, $2) on conflict do nothing',
          [studentId, lessonId],
        );
        if (rowCount !== 1) return false;
        await client.query(
          `insert into lesson_progress (student_id, completed) values ($1, 1)
           on conflict (student_id) do update set completed = lesson_progress.completed + 1`,
          [studentId],
        );
        return true;
      }).catch((error: unknown) => {
        throw asStoreFailure(error);
      }),
    progressOf: async (studentId) => {
      const [counted, lessons] = await Promise.all([
        pool.query<{ completed: number }>('select completed from lesson_progress where student_id = $1', [studentId]),
        pool.query<{ lesson_id: string }>(
          'select lesson_id from lesson_completions where student_id = $1 order by lesson_id',
          [studentId],
        ),
      ]);
      return {
        completed: counted.rows[0]?.completed ?? 0,
        lessonIds: lessons.rows.map(({ lesson_id: lessonId }) => lessonId),
      };
    },
    close: () => pool.end(),
  };
}
