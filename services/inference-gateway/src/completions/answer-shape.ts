import type { OutgoingHttpHeaders } from 'node:http';
import type { JsonText } from '../large-json/index.ts';
import type { UpstreamAnswer } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import type { StreamEditor } from '../streaming/index.ts';
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

/** A JSON answer in the caller's format, with its usage. */
export interface ShapedAnswer extends UpstreamNames {
  readonly body: Buffer | readonly Buffer[];
  /** The buffer that backs the body. */
  readonly memory: Buffer;
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
  /** Throws UpstreamFailure, or AppError for an answer that must not be passed on. */
  readonly shapeAnswer: (answer: RoutedAnswer, text: JsonText) => Promise<ShapedAnswer>;
  readonly shapeStream: (answer: RoutedAnswer) => ShapedStream;
}
