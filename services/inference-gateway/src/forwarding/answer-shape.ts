import type { OutgoingHttpHeaders } from 'node:http';
import type { AnswerLimits, JsonText } from '../large-json/index.ts';
import type { TokenRoute } from '../provider-routes/index.ts';
import type { UpstreamAnswer } from '../providers/index.ts';
import type { LateAnswer, StreamEditor } from '../streaming/index.ts';
import type { ReportedUsage, StreamTally } from '../wire/index.ts';

/** A provider's answer and its route. */
export interface RoutedAnswer {
  readonly route: TokenRoute;
  readonly upstream: UpstreamAnswer;
}

/** The provider's model name and request id, as recorded. */
export interface UpstreamNames {
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
}

/** Reader of one JSON answer. */
export interface AnswerReader {
  /** Limits of size and structure, checked while the answer arrives. */
  readonly limits: AnswerLimits;
  /** Shapes the whole answer. Throws UpstreamFailure, or AppError for an answer that must not be passed on. */
  readonly shape: (answer: RoutedAnswer, text: JsonText) => Promise<ShapedAnswer>;
}

/** A JSON answer in the caller's format, with its usage. */
export interface ShapedAnswer extends UpstreamNames {
  readonly body: Buffer | readonly Buffer[];
  /** The buffers that back the body. They are freed once it is sent. */
  readonly memory: readonly Buffer[];
  readonly headers: OutgoingHttpHeaders;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
}

/** The editor of a stream, with its usage and names. */
export interface ShapedStream {
  readonly editor: StreamEditor;
  readonly tally: StreamTally;
  readonly names: () => UpstreamNames;
}

/** Shapes answers for one kind of caller: apps see the public identity, API keys see proof of the provider. */
export interface AnswerShape {
  readonly openReader: () => AnswerReader;
  readonly shapeStream: (answer: RoutedAnswer) => ShapedStream;
  /** Starts a stream whose first event is late. Undefined if its headers name the provider, which only an answer proves. */
  readonly late?: LateAnswer;
  /** False if the caller wants the provider's bytes alone. */
  readonly sendsComments: boolean;
}
