import { isUtf8 } from 'node:buffer';
import { responseRequestSchema, type ValidationIssue } from '@svc/contracts';
import { check } from '@svc/service-kit/validation';
import { rewriteCompletion } from './delegated/rewrite-completion.ts';
import { rewriteLargeEvent } from './delegated/rewrite-event.ts';
import { rewriteTranscription } from './delegated/rewrite-transcription.ts';
import { readAnswer } from './gateway/read-answer.ts';
import { readLargeEvent } from './gateway/read-event.ts';
import { type ChatDelta, readDelta } from './gateway/responses/chat-delta.ts';
import { callItem, incompleteReason, messageItem, refusalPart, textPart } from './gateway/responses/output-items.ts';
import { readRawRequest, writeJson } from './gateway/responses/raw-json.ts';
import { readLargeChatChunk } from './gateway/responses/read-chat-chunk.ts';
import { echoOf, type ResponseEcho } from './gateway/responses/response-echo.ts';
import { toChatRequest } from './gateway/responses/to-chat-request.ts';
import { Unsupported } from './gateway/responses/unsupported.ts';
import { UpstreamFailure } from './upstream-failure.ts';
import {
  cutFaultyLists,
  digestRequest,
  isAmbiguousAnswer,
  isRecord,
  MessageDigest,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  type RequestDigest,
  readUsage,
  recordableName,
  reportsError,
} from './wire/index.ts';

/** Copies a text to an unpooled buffer, which a worker can transfer. */
const toOwnBuffer = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

/** A chat completion translated to the output of a response. */
interface ChatAnswerReading {
  /** The output items, as JSON. */
  readonly body: Buffer;
  readonly incompleteReason: string | undefined;
  /** Null unless it is a short printable string. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
  /** Digest of the message, if a proof needs it. */
  readonly contentSha256: string | undefined;
  /** True if the provider repeats a member that the gateway reads, or writes one of the gateway's. */
  readonly isAmbiguous: boolean;
}

interface ReadChatAnswerOptions {
  /** Random part of the items' ids. */
  readonly tail: string;
  readonly contextTokensMax: number;
  /** True if a proof needs the digest of the message. */
  readonly digestsMessages: boolean;
}

/**
 * Reads a provider's chat completion. Throws UpstreamFailure if it is not one: `failed` if it reports an error,
 * else `garbled`.
 */
const readChatAnswer = (
  bytes: Buffer,
  { tail, contextTokensMax, digestsMessages }: ReadChatAnswerOptions,
): ChatAnswerReading => {
  const answer = parseRecord(bytes);
  const { choices, usage, id, model } = answer;
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(answer) ? 'failed' : 'garbled');
  }
  const delta = readDelta(choices, bytes);
  return {
    body: toOwnBuffer(JSON.stringify(outputOf(delta, tail))),
    incompleteReason: incompleteReason(delta.finishReason),
    id: recordableName(id),
    model: recordableName(model),
    usage: readUsage(usage, contextTokensMax),
    outputBytes: outputBytesOf(choices),
    contentSha256: digestsMessages ? digestOf(delta) : undefined,
    isAmbiguous: isAmbiguousAnswer(bytes),
  };
};

const digestOf = ({ text, refusal, calls }: ChatDelta): string | undefined => {
  const digest = new MessageDigest();
  digest.add({ choice: 0, content: text, refusal, calls: calls.map((call, index) => ({ ...call, index })) });
  return digest.value();
};

const outputOf = ({ text, refusal, calls, finishReason }: ChatDelta, tail: string): object[] => {
  const status = incompleteReason(finishReason) === undefined ? 'completed' : 'incomplete';
  const hasText = text !== '' || (refusal === '' && calls.length === 0);
  const content = [...(hasText ? [textPart(text)] : []), ...(refusal === '' ? [] : [refusalPart(refusal)])];
  const message = content.length === 0 ? [] : [messageItem(`msg_${tail}_0`, status, content)];
  const called = calls.map((call, index) => {
    const name = `${tail}_${message.length + index}`;
    return callItem(`fc_${name}`, status, { ...call, id: call.id || `call_${name}` });
  });
  return [...message, ...called];
};

/** A request of the Responses format translated to a chat request, or its faults. */
type ResponseRequestReading =
  | { readonly ok: true; readonly digest: RequestDigest; readonly body: Buffer; readonly echo: ResponseEcho }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] }
  | { readonly ok: false; readonly unsupported: { readonly param: string; readonly message: string } };

/** Translates a request of the Responses format to a chat request and digests it. What is only passed on keeps its text. */
const digestResponseRequest = (
  bytes: Buffer,
  { members }: { readonly members: ReadonlySet<string> },
): ResponseRequestReading => {
  const value = parseJson(bytes);
  if (value === undefined) {
    return { ok: false, issues: [{ loc: ['body'], type: 'json_invalid', msg: 'JSON decode error' }] };
  }
  cutFaultyLists(value);
  const checked = check(responseRequestSchema, value, 'body');
  if (!checked.ok) return checked;
  try {
    const raw = readRawRequest(bytes);
    const body = toOwnBuffer(writeJson(toChatRequest(checked.value, raw)));
    const reading = digestRequest(body, { kind: 'chat', members });
    return reading.ok ? { ...reading, body, echo: echoOf(checked.value, raw) } : reading;
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    return { ok: false, unsupported: { param: error.param, message: error.message } };
  }
};

/** Returns undefined for text that is not JSON in UTF-8. Drops the error because it would quote the text. */
const parseJson = (bytes: Buffer): unknown => {
  try {
    return isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
};

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
