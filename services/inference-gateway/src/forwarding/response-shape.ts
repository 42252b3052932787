import type { OutgoingHttpHeaders } from 'node:http';
import type { JsonText, ResponseLimits } from '../large-json/index.ts';
import type { TokenRoute } from '../provider-routes/index.ts';
import type { UpstreamResponse } from '../providers/index.ts';
import type { LateResponse, StreamEditor } from '../streaming/index.ts';
import type { ReportedUsage, StreamTally } from '../wire/index.ts';

/** A provider's response and its route. */
export interface RoutedResponse {
  readonly route: TokenRoute;
  readonly upstream: UpstreamResponse;
}

/** The provider's model name and request id, as recorded. */
export interface UpstreamNames {
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
}

/** Reader of one JSON response. */
export interface ResponseReader {
  /** Limits of size and structure, checked while the response arrives. */
  readonly limits: ResponseLimits;
  /** Shapes the whole response. Throws UpstreamFailure, or AppError for a response that must not be passed on. */
  readonly shape: (response: RoutedResponse, text: JsonText) => Promise<ShapedResponse>;
}

/** A JSON response in the caller's format, with its usage. */
export interface ShapedResponse extends UpstreamNames {
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

/** Shapes responses for one kind of caller: apps see the public identity, API keys see proof of the provider. */
export interface ResponseShape {
  readonly openReader: () => ResponseReader;
  readonly shapeStream: (response: RoutedResponse) => ShapedStream;
  /** Starts a stream whose first event is late. Undefined if its headers name the provider, which only a response proves. */
  readonly late?: LateResponse;
  /** False if the caller wants the provider's bytes alone. */
  readonly sendsComments: boolean;
}
