import { UpstreamFailure } from '../upstream-failure/index.ts';
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
 * Everything that the gateway reads of a provider's JSON answer, whose bytes stay as they came. It is small, however large the
 * answer is: it is cloned between threads.
 */
export interface AnswerReading extends AnswerSpan {
  readonly isAmbiguous: false;
  /** Null for anything but a short printable text. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  /** Bytes of generated text; counted only if the provider reports no plausible usage. */
  readonly outputBytes: number;
}

/** An answer in which a member that is read or written appears twice. */
interface AmbiguousAnswer {
  readonly isAmbiguous: true;
}

const BLANK = /^[\t\n\r ]*$/;

/**
 * Reads single members and skips the rest: embeddings are long lists of numbers. Throws UpstreamFailure: `failed` if the
 * provider reports an error, `garbled` for text that is no JSON object as far as it is read.
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
    // To be stamped later: a damaged one is found before anything is settled.
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
    // Not as the cause: its message could quote the answer.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};
