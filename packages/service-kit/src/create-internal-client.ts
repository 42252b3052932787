import { type Attributes, SpanKind, trace } from '@opentelemetry/api';
import { type ErrorCode, errorCodes, type RouteDefinition } from '@svc/contracts';
import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { AppError } from './app-error.ts';
import { withDeadline } from './clock.ts';
import { OPERATOR_HEADER } from './http/audit-request.ts';
import { endSpan, errorCodeOf, traceparentOf, tracer, withinSpan } from './traces.ts';

export interface InternalClientOptions {
  readonly baseUrl: string;
  /** INTERNAL_API_TOKEN: the caller's credential. */
  readonly token: string;
  readonly timeoutMs: number;
  /** Name of the operator who runs the command, for the audit log. */
  readonly operator?: string;
  /** Maximum connections to the other service. */
  readonly connectionsMax?: number;
}

type Input<S> = S extends z.ZodType ? z.input<S> : undefined;
type BodyInput<R extends RouteDefinition> = R['request']['body'] extends { schema: infer S } ? Input<S> : undefined;
type Given<K extends string, T> = [T] extends [undefined] ? { [k in K]?: undefined } : { [k in K]: T };

/** Parameters, query and body as the route's contract defines them. */
export type CallInput<R extends RouteDefinition> = Given<'params', Input<R['request']['params']>> &
  Given<'query', Input<R['request']['query']>> &
  Given<'body', BodyInput<R>> & {
    /** Forwarded, so that the log lines of one request can be correlated across services. */
    requestId?: string;
    signal?: AbortSignal;
    /** Overrides the client's timeout. */
    timeoutMs?: number;
  };

type SuccessStatus<R extends RouteDefinition> = keyof R['responses'] & number;
type ResponseBody<D> = D extends { schema: infer S extends z.ZodType } ? z.output<S> : undefined;

/** Response, typed by its status. */
export type CallResult<R extends RouteDefinition> = {
  [S in SuccessStatus<R>]: { status: S; body: ResponseBody<R['responses'][S]> };
}[SuccessStatus<R>];

/** Client for another service's internal routes. */
export interface InternalClient {
  /**
   * Calls a route. Throws AppError with the other service's code if it refuses the request; with kind `unavailable` if
   * it is unreachable, times out or fails, or with the code of its failure for an operator; with `internal_error` if the
   * two services disagree about the contract. An operator learns what is invalid instead.
   */
  readonly call: <R extends RouteDefinition>(route: R, input: CallInput<R>) => Promise<CallResult<R>>;
  /**
   * Calls a route with a large answer. Returns its text in pieces as they arrive, which end with an error if the answer
   * breaks off. The timeout applies to the head of the answer and to each pause in it, not to the whole. Throws as `call`.
   */
  readonly stream: <R extends RouteDefinition>(route: R, input: CallInput<R>) => Promise<AsyncIterable<string>>;
  readonly close: () => Promise<void>;
}

const CONNECTIONS_MAX = 128;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

interface RawInput {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

interface SignalledInput extends RawInput {
  readonly signal: AbortSignal;
}

/** Creates a client with keep-alive connections. */
export const createInternalClient = (options: InternalClientOptions): InternalClient => {
  const agent = new Agent({
    connections: options.connectionsMax ?? CONNECTIONS_MAX,
    pipelining: 1,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  // Streams have no limit of size, because nothing keeps them in memory.
  const streamAgent = new Agent({ connections: options.connectionsMax ?? CONNECTIONS_MAX, pipelining: 1 });
  const server = serverOf(options.baseUrl);
  let closed: Promise<void> | undefined;
  return {
    close: () => {
      closed ??= Promise.all([agent.close(), streamAgent.close()]).then(() => undefined);
      return closed;
    },
    stream: async (route, input) => {
      const timeoutMs = input.timeoutMs ?? options.timeoutMs;
      const { statusCode, body } = await withDeadline(timeoutMs, (signal) =>
        // CallInput is RawInput with the route's types.
        open(route, withSignal(input as RawInput, signal), { ...options, agent: streamAgent, pauseMsMax: timeoutMs }),
      );
      if (statusCode >= 400)
        throw toError(route, { status: statusCode, text: await body.text(), retryAfter: undefined }, options);
      return readPieces(body);
    },
    call: async <R extends RouteDefinition>(route: R, input: CallInput<R>): Promise<CallResult<R>> => {
      const timeoutMs = input.timeoutMs ?? options.timeoutMs;
      const asked = () =>
        // CallInput is RawInput with the route's types.
        withDeadline(timeoutMs, (signal) => send(route, withSignal(input as RawInput, signal), { ...options, agent }));
      const answer = await traced(route, server, asked);
      if (answer.status >= 400) throw toError(route, answer, options);
      const response = route.responses[answer.status];
      if (response === undefined) throw disagreement(route, `status ${answer.status} is not in the contract`);
      const body = response.schema === undefined ? undefined : parseAnswer(route, response.schema, answer.text);
      // The status is in the contract, and the body was parsed by its schema.
      return { status: answer.status, body } as CallResult<R>;
    },
  };
};

/** Yields the text of a body. Throws `service_unavailable` if the body breaks off. */
async function* readPieces(body: Dispatcher.ResponseData['body']): AsyncGenerator<string> {
  try {
    yield* body.setEncoding('utf8');
  } catch (error) {
    throw new AppError('service_unavailable', undefined, { cause: error });
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

const send = async (
  route: RouteDefinition,
  input: SignalledInput,
  options: InternalClientOptions & { agent: Agent },
): Promise<Answer> => {
  const { statusCode, headers, body } = await open(route, input, options);
  try {
    const retryAfter = headers['retry-after'];
    return {
      status: statusCode,
      text: await body.text(),
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  } catch (error) {
    throw new AppError('service_unavailable', undefined, { cause: error });
  }
};

const withSignal = (input: RawInput, signal: AbortSignal): SignalledInput => ({
  ...input,
  signal: input.signal === undefined ? signal : AbortSignal.any([signal, input.signal]),
});

const open = async (
  route: RouteDefinition,
  input: SignalledInput,
  options: InternalClientOptions & { readonly agent: Agent; readonly pauseMsMax?: number },
): Promise<Dispatcher.ResponseData> => {
  try {
    return await request(`${options.baseUrl}${pathOf(route, input)}`, {
      dispatcher: options.agent,
      method: route.method,
      signal: input.signal,
      headersTimeout: input.timeoutMs ?? options.timeoutMs,
      ...(options.pauseMsMax === undefined ? {} : { bodyTimeout: options.pauseMsMax }),
      headers: {
        authorization: `Bearer ${options.token}`,
        accept: 'application/json',
        ...(options.operator === undefined ? {} : { [OPERATOR_HEADER]: options.operator }),
        ...(input.requestId === undefined ? {} : { 'x-request-id': input.requestId }),
        ...traceHeaders(),
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: input.body === undefined ? null : JSON.stringify(input.body),
    });
  } catch (error) {
    throw new AppError('service_unavailable', undefined, { cause: error });
  }
};

const attributesOf = ({ operationId, method, path }: RouteDefinition): Attributes => ({
  'svc.operation': operationId,
  'http.request.method': method,
  'http.route': path,
});

const serverOf = (baseUrl: string): Attributes => {
  const { protocol, hostname, port } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) };
};

/** Runs a call as a step of the current trace, if there is one. */
const traced = async <T>(route: RouteDefinition, server: Attributes, work: () => Promise<T>): Promise<T> => {
  if (trace.getActiveSpan() === undefined) return await work();
  const attributes = { ...attributesOf(route), ...server };
  const span = tracer().startSpan(route.operationId, { kind: SpanKind.CLIENT, attributes });
  try {
    const result = await withinSpan(span, work);
    span.end();
    return result;
  } catch (error) {
    endSpan(span, errorCodeOf(error));
    throw error;
  }
};

/** Trace headers are sent to our own services only. */
const traceHeaders = (): Readonly<Record<string, string>> => {
  const traceparent = traceparentOf(trace.getActiveSpan());
  return traceparent === undefined ? {} : { traceparent };
};

const pathOf = (route: RouteDefinition, input: RawInput): string => {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(input.params?.[name])),
  );
  const pairs = Object.entries(input.query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (pairs.length === 0) return path;
  return `${path}?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))}`;
};

const parseAnswer = (route: RouteDefinition, schema: z.ZodType, text: string): unknown => {
  const result = schema.safeParse(readJson(text));
  if (result.success) return result.data;
  const places = result.error.issues.map((issue) => `${issue.path.map(String).join('.') || '(root)'}: ${issue.code}`);
  throw disagreement(route, places.join('; '));
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const errorSchema = z.object({ detail: z.looseObject({ code: z.string(), message: z.string() }) });
const invalidSchema = z.object({
  detail: z.tuple([z.object({ loc: z.array(z.json()), msg: z.string() })]).rest(z.json()),
});

const toError = (
  route: RouteDefinition,
  answer: Answer,
  { operator }: Pick<InternalClientOptions, 'operator'>,
): AppError => {
  const parsed = errorSchema.safeParse(readJson(answer.text));
  if (answer.status >= 500) {
    const cause = new Error(`${route.operationId} returned status ${answer.status}`);
    const headers = answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter };
    // Operators act on the reason. A service only needs to know that the other one cannot answer now.
    const reason = operator === undefined ? undefined : parsed.data?.detail;
    if (reason === undefined || !isErrorCode(reason.code)) {
      return new AppError('service_unavailable', undefined, { cause, headers });
    }
    return new AppError(reason.code, reason.message, { cause, headers });
  }
  // What an operator has typed may be wrong in a way that only the service can tell.
  const invalid = operator === undefined ? undefined : invalidSchema.safeParse(readJson(answer.text)).data?.detail[0];
  if (invalid !== undefined) {
    const field = invalid.loc.slice(1).map(String).join(' ').replaceAll('_', ' ');
    return new AppError(
      'invalid_request_error',
      `the ${field} is invalid: ${invalid.msg.replace('Value error, ', '')}`,
    );
  }
  if (!parsed.success) return disagreement(route, `status ${answer.status}`);
  const { code, message, ...details } = parsed.data.detail;
  // A refusal of our credential or request is not the caller's fault.
  if (!isErrorCode(code) || OUR_FAULTS.has(code)) return disagreement(route, `status ${answer.status}`);
  return new AppError(code, message, {
    details,
    ...(answer.retryAfter === undefined ? {} : { headers: { 'retry-after': answer.retryAfter } }),
  });
};

const OUR_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'not_authenticated',
  'invalid_token',
  'caller_not_allowed',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
]);

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

const disagreement = (route: RouteDefinition, what: string): AppError =>
  new AppError('internal_error', undefined, {
    cause: new Error(`${route.operationId} broke its contract: ${what}`),
  });
