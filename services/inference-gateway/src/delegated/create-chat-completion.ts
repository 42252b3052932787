import { type ChatRequest, chatRequestSchema, costOfTokens, type routes } from '@svc/contracts';
import { AppError, HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import {
  collectBody,
  openUpstream,
  readRefusal,
  tryInOrder,
  type UpstreamAnswer,
  UpstreamFailure,
} from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { relayEvents, type StreamEnd } from '../streaming/index.ts';
import type { RequestEnd, RequestIdentity } from '../usage-records/index.ts';
import {
  estimateInputTokens,
  estimateUsage,
  type JsonRequest,
  readJsonRequest,
  sendJsonText,
  type TokenUsage,
  toUpstreamBody,
  wantsUsage,
} from '../wire/index.ts';
import { admitDelegated } from './admit-delegated.ts';
import { createChunkRewriter, type StreamTally } from './create-chunk-rewriter.ts';
import type { DelegatedDeps } from './delegated-deps.ts';
import { finishDelegated, finishFailed } from './finish-delegated.ts';
import { type PublicIdentity, rewriteCompletion } from './rewrite-completion.ts';
import { toDelegatedError } from './upstream-errors.ts';

/** Bytes of a whole answer that the gateway is willing to hold. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

type Context = RequestContext<typeof routes.createDelegatedChatCompletion>;

/** One admitted chat request. */
interface Chat {
  readonly context: Context;
  readonly request: JsonRequest<ChatRequest>;
  readonly identity: RequestIdentity;
  readonly inputTokens: number;
}

/** Chat on behalf of a user: admits, forwards to the first route that serves it, and settles what was used. */
export const createChatCompletion = async (deps: DelegatedDeps, context: Context): Promise<Reply> => {
  const request = await readJsonRequest(context.req, chatRequestSchema);
  const candidates = deps.routes().delegatedChat(deps.clock());
  const [preferred] = candidates;
  if (preferred === undefined) throw new AppError('no_certified_route');
  const inputTokens = estimateInputTokens(request.bytes);
  const estimateMicros = costOfTokens(preferred.price, {
    input: inputTokens,
    output: request.value.max_completion_tokens ?? request.value.max_tokens ?? deps.defaultOutputTokens,
  });
  const identity = await admitDelegated(deps, {
    requestId: context.requestId,
    caller: context.caller,
    service: 'chat',
    isStreamed: request.value.stream,
    estimateMicros,
    idempotencyKey: context.headers['idempotency-key'],
  });
  const chat: Chat = { context, request, identity, inputTokens };
  const attempt = request.value.stream ? streamFrom : answerFrom;
  try {
    return await tryInOrder(candidates, (route) => attempt(deps, chat, route));
  } catch (thrown) {
    const error = thrown instanceof UpstreamFailure ? toDelegatedError(thrown) : thrown;
    // What is not a provider's failure is our own fault, and then nothing is known of the outcome.
    const isUncertain = !(thrown instanceof UpstreamFailure) || thrown.isUncertain;
    const status = error instanceof AppError ? error.status : 500;
    await finishFailed(deps, identity, { isUncertain, estimateMicros, status });
    throw error;
  }
};

const answerFrom = async (deps: DelegatedDeps, chat: Chat, route: TokenRoute): Promise<Reply> => {
  const answer = await forward(deps, chat, route);
  const completion = rewriteCompletion(await collectBody(answer, ANSWER_BYTES_MAX), publicIdentity(deps, chat));
  const usage = completion.usage ?? estimateUsage(chat.inputTokens, completion.outputBytes);
  await finishDelegated(deps, chat.identity, {
    ...settledEnd(route, usage, deps.clock()),
    upstreamModel: completion.upstreamModel,
    upstreamRequestId: requestIdOf(answer),
    isEstimated: completion.usage === undefined,
    firstEventMs: null,
  });
  sendJsonText(chat.context.res, completion.body);
  return HANDLED;
};

const streamFrom = async (deps: DelegatedDeps, chat: Chat, route: TokenRoute): Promise<Reply> => {
  const answer = await forward(deps, chat, route);
  if (!isEventStream(answer)) {
    answer.abort();
    throw new UpstreamFailure('garbled', { status: answer.status });
  }
  const editor = createChunkRewriter({
    ...publicIdentity(deps, chat),
    showsUsage: wantsUsage(chat.request),
    clock: deps.clock,
  });
  const end = await relayEvents({
    answer,
    res: chat.context.res,
    editor,
    limits: deps.streamLimits,
    beforeEnd: (streamEnd) =>
      finishDelegated(deps, chat.identity, {
        ...streamedEnd({ deps, chat, route, tally: editor.tally, streamEnd }),
        upstreamRequestId: requestIdOf(answer),
      }),
  });
  if (end.failure !== undefined) {
    chat.context.log.warn({ upstream_route: route.id, err: end.failure }, 'the stream broke off');
  }
  return HANDLED;
};

/** Sends the request and answers the head of a 200. Throws UpstreamFailure for everything else. */
const forward = async (deps: DelegatedDeps, { request, context }: Chat, route: TokenRoute): Promise<UpstreamAnswer> => {
  const { provider, upstreamModel } = route;
  const body = toUpstreamBody(request, { model: upstreamModel, mustTellUsage: request.value.stream });
  const answer = await openUpstream(
    deps.dispatcher,
    {
      origin: provider.origin,
      path: `${provider.basePath}/chat/completions`,
      headers: {
        authorization: `Bearer ${provider.apiKey}`,
        'content-type': 'application/json',
        accept: request.value.stream ? 'text/event-stream' : 'application/json',
      },
      body,
    },
    deps.upstreamLimits,
  );
  if (answer.status === 200) return answer;
  const failure = await readRefusal(answer);
  context.log.warn(
    { upstream_route: route.id, upstream_status: answer.status, reason: failure.reason },
    'the provider did not serve the request',
  );
  throw failure;
};

const publicIdentity = (deps: DelegatedDeps, { context }: Chat): PublicIdentity => ({
  id: `chatcmpl-${context.requestId.slice('req_'.length)}`,
  created: Math.floor(deps.clock() / 1000),
});

const isEventStream = ({ headers }: UpstreamAnswer): boolean =>
  /^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));

const requestIdOf = ({ headers }: UpstreamAnswer): string | null => {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id.slice(0, 200) : null;
};

type SettledEnd = Omit<RequestEnd, 'upstreamModel' | 'upstreamRequestId' | 'isEstimated' | 'firstEventMs'>;

const settledEnd = (route: TokenRoute, usage: TokenUsage, nowMs: number): SettledEnd => ({
  servedBy: { routeId: route.id, provider: route.provider.name, dataZone: route.dataZone },
  inputTokens: usage.input,
  outputTokens: usage.output,
  audioMs: null,
  outcome: 'settled',
  costMicros: costOfTokens(route.price, usage),
  status: 200,
  finishedAtMs: nowMs,
});

interface StreamedChat {
  readonly deps: DelegatedDeps;
  readonly chat: Chat;
  readonly route: TokenRoute;
  readonly tally: StreamTally;
  readonly streamEnd: StreamEnd;
}

/** Usage that the provider told counts, however the stream ended; without it, a broken stream's cost stays uncertain. */
const streamedEnd = ({ deps, chat, route, tally, streamEnd }: StreamedChat): Omit<RequestEnd, 'upstreamRequestId'> => {
  const usage = tally.usage ?? estimateUsage(chat.inputTokens, tally.outputBytes);
  const isKnown = tally.usage !== undefined || streamEnd.failure === undefined;
  const { firstEventAtMs } = tally;
  return {
    ...settledEnd(route, usage, deps.clock()),
    outcome: isKnown ? 'settled' : 'uncertain',
    upstreamModel: tally.upstreamModel,
    isEstimated: tally.usage === undefined,
    firstEventMs: firstEventAtMs === undefined ? null : firstEventAtMs - chat.identity.startedAtMs,
  };
};
