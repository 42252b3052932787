import { rewriteCompletion } from './delegated/rewrite-completion.ts';
import { rewriteLargeEvent } from './delegated/rewrite-event.ts';
import { rewriteTranscription } from './delegated/rewrite-transcription.ts';
import { readAnswer } from './gateway/read-answer.ts';
import { readLargeEvent } from './gateway/read-event.ts';
import { digestResponseRequest } from './gateway/responses/digest-response-request.ts';
import { readChatAnswer } from './gateway/responses/read-chat-answer.ts';
import { readLargeChatChunk } from './gateway/responses/read-chat-chunk.ts';
import { digestRequest } from './wire/index.ts';

/** Tasks that run in worker threads if their text is large. */
export const jsonTaskTable = {
  digestRequest,
  digestResponseRequest,
  readAnswer,
  readChatAnswer,
  readLargeChatChunk,
  readLargeEvent,
  rewriteCompletion,
  rewriteLargeEvent,
  rewriteTranscription,
} as const;
