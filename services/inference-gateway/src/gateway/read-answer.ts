import { UpstreamFailure } from '../upstream-failure.ts';
import {
  type AnswerSpan,
  findMember,
  MessageDigest,
  outputBytesOf,
  type ReportedUsage,
  readMessages,
  readUsage,
  recordableName,
  reportsError,
  scanAnswer,
} from '../wire/index.ts';

/**
 * The parts of a provider's JSON answer that the gateway reads. Its size is bounded, regardless of the answer's, because it
 * is cloned between threads.
 */
export interface AnswerReading extends AnswerSpan {
  readonly isAmbiguous: false;
  /** Null unless it is a short printable string. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  /** Bytes of generated text; counted only if the provider reports no plausible usage. */
  readonly outputBytes: number;
  /** Digest of the messages, if a proof needs it. */
  readonly contentSha256: string | undefined;
}

/** An answer that repeats a member which the gateway reads or writes. */
export interface AmbiguousAnswer {
  readonly isAmbiguous: true;
}

interface ReadAnswerOptions {
  readonly contextTokensMax: number;
  /** The request's own output limit, or infinity. */
  readonly outputTokensMax: number;
  /** True if a proof needs the digest of the messages. */
  readonly digestsMessages: boolean;
}

const BLANK = /^[\t\n\r ]*$/;

/**
 * Reads single members and skips the rest, such as the long lists of numbers in embeddings. Throws UpstreamFailure:
 * `failed` if the provider reports an error, `garbled` if the parts read are not a JSON object.
 */
export const readAnswer = (
  bytes: Buffer,
  { contextTokensMax, outputTokensMax, digestsMessages }: ReadAnswerOptions,
): AnswerReading | AmbiguousAnswer => {
  try {
    const { span, extensions, isAmbiguous } = scanAnswer(bytes);
    if (isAmbiguous) return { isAmbiguous };
    const read = (key: string): unknown => {
      const member = findMember(span, key);
      return member === undefined ? undefined : JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd));
    };
    const isAnswer = findMember(span, 'choices') !== undefined || findMember(span, 'data') !== undefined;
    if (!isAnswer && reportsError({ error: read('error'), object: read('object') }))
      throw new UpstreamFailure('failed');
    // Extensions are edited later. Parsing them now finds damaged ones before the request is settled.
    read('extensions');
    if (!BLANK.test(bytes.toString('latin1', span.close + 1))) throw new UpstreamFailure('garbled');
    const usage = readUsage(read('usage'), contextTokensMax);
    const isCounted = typeof usage === 'object' && usage.output <= outputTokensMax;
    const choices = isCounted && !digestsMessages ? undefined : read('choices');
    return {
      isAmbiguous,
      span,
      extensions,
      id: recordableName(read('id')),
      model: recordableName(read('model')),
      usage,
      outputBytes: Array.isArray(choices) && !isCounted ? outputBytesOf(choices) : 0,
      contentSha256: digestsMessages ? digestOf(choices) : undefined,
    };
  } catch (error) {
    // The error is not kept as the cause: its message could quote the answer.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};

const digestOf = (choices: unknown): string | undefined => {
  const digest = new MessageDigest();
  for (const message of Array.isArray(choices) ? readMessages(choices) : []) digest.add(message);
  return digest.value();
};
