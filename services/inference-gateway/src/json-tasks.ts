import { rewriteCompletion } from './delegated/rewrite-completion.ts';
import { rewriteLargeEvent } from './delegated/rewrite-event.ts';
import { rewriteTranscription } from './delegated/rewrite-transcription.ts';
import { readAnswer } from './gateway/read-answer.ts';
import { readLargeEvent } from './gateway/read-event.ts';
import { digestRequest } from './wire/index.ts';

/** The work that the event loop gives to workers if a text is large. */
export const jsonTasks = {
  digestRequest,
  readAnswer,
  readLargeEvent,
  rewriteCompletion,
  rewriteLargeEvent,
  rewriteTranscription,
} as const;
