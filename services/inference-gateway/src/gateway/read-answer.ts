import { UpstreamFailure } from '../upstream-failure.ts';
import {
  type AnswerSpan,
  findMember,
  outputBytesOf,
  type ReportedUsage,
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
}

/** An answer that repeats a member which the gateway reads or writes. */
interface AmbiguousAnswer {
  readonly isAmbiguous: true;
}

const BLANK = /^[\t\n\r ]*$/;

/**
 * Reads single members and skips the rest, such as the long lists of numbers in embeddings. Throws UpstreamFailure:
 * `failed` if the provider reports an error, `garbled` if the parts read are not a JSON object.
 */
export const readAnswer = (
  bytes: Buffer,
  { contextTokensMax }: { readonly contextTokensMax: number },
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
    const choices = typeof usage === 'object' ? undefined : read('choices');
    return {
      isAmbiguous,
      span,
      extensions,
      id: recordableName(read('id')),
      model: recordableName(read('model')),
      usage,
      outputBytes: Array.isArray(choices) ? outputBytesOf(choices) : 0,
    };
  } catch (error) {
    // The error is not kept as the cause: its message could quote the answer.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};
