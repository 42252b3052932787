import type { OutgoingHttpHeaders } from 'node:http';
import type { JsonText } from '../large-json/index.ts';
import type { UpstreamAnswer } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import type { StreamEditor } from '../streaming/index.ts';
import type { ReportedUsage, StreamTally } from '../wire/index.ts';

/** A provider's answer, and the route that it came from. */
export interface RoutedAnswer {
  readonly route: TokenRoute;
  readonly upstream: UpstreamAnswer;
}

/** The names that a provider gave to its answer, as they are recorded. */
export interface UpstreamNames {
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
}

/** A JSON answer as the caller gets it, and its usage. */
export interface ShapedAnswer extends UpstreamNames {
  readonly body: Buffer | readonly Buffer[];
  /** The buffer that the body lies in. */
  readonly memory: Buffer;
  readonly headers: OutgoingHttpHeaders;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
}

/** An editor of a stream, and its findings. */
export interface ShapedStream {
  readonly editor: StreamEditor;
  readonly tally: StreamTally;
  readonly names: () => UpstreamNames;
}

/** The form in which callers of one kind see answers: apps under the public identity, API keys with proof of the provider. */
export interface AnswerShape {
  /** Throws UpstreamFailure, or AppError for an answer that must not be passed on. */
  readonly shapeAnswer: (answer: RoutedAnswer, text: JsonText) => Promise<ShapedAnswer>;
  readonly shapeStream: (answer: RoutedAnswer) => ShapedStream;
}
