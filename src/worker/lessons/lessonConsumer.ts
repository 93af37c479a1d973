import type { Bus, Consumer, ConsumerOptions } from '../../bus';
import { untilStoreAnswers } from '../runs/untilStoreAnswers';
import { lessonEvents } from './lessonEvents';
import type { LessonStore } from './lessonStore';

/** What a consumer of lesson events has done. */
export interface LessonCounts {
  started: number;
  /** Completions that were told, repetitions included. */
  completions: number;
  /** Completions that were new, which is what counts. */
  recorded: number;
  tasks: number;
}

/** Makes a consumer of lesson events: each handler gets what the schema of its type made. */
export function createLessonConsumer(
  bus: Bus,
  store: LessonStore,
  options: ConsumerOptions,
): { readonly consumer: Consumer; readonly counts: LessonCounts } {
  const counts: LessonCounts = { started: 0, completions: 0, recorded: 0, tasks: 0 };
  const consumer = bus.consume(lessonEvents, options, {
    lesson_started: () => {
      counts.started += 1;
    },
    lesson_completed: async ({ id, body: { studentId, lessonId } }, context) => {
      counts.completions += 1;
      const isNew = await untilStoreAnswers(context, () => store.complete({ studentId, lessonId }));
      if (isNew) counts.recorded += 1;
      context.log.info(isNew ? 'A completion is recorded' : 'A completion was recorded before', { id });
    },
    task_submitted: () => {
      counts.tasks += 1;
    },
  });
  return { consumer, counts };
}
