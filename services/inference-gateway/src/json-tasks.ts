import { rewriteCompletion } from './delegated/rewrite-completion.ts';
import { rewriteTranscription } from './delegated/rewrite-transcription.ts';
import { readAnswer } from './gateway/read-answer.ts';
import { digestRequest } from './wire/index.ts';

/** The work that the event loop gives to workers if a text is large. */
export const jsonTasks = { digestRequest, readAnswer, rewriteCompletion, rewriteTranscription } as const;
