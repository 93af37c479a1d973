import * as v from 'valibot';
import { topic } from '../../bus';

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const score = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100));

const lesson = { studentId: id, lessonId: id };

/**
 * The stream `<env>:lesson-events`: what students do, typed. A body is checked when it is published, and again before a handler gets it;
 * one that does not fit becomes a dead letter with reason `invalid`.
 */
export const lessonEvents = topic(
  'lesson-events',
  {
    lesson_started: v.object(lesson),
    lesson_completed: v.object({ ...lesson, score: v.optional(score) }),
    task_submitted: v.object({ ...lesson, taskId: id, score }),
  },
  { retention: { maxLength: 100_000 } },
);
