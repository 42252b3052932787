import { costOfTokens, type routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import {
  affordableOutput,
  canBeFitted,
  FITTED_TOKENS_MIN,
  failWith,
  forwardRequest,
  holdOf,
  outputTokensOf,
  type ResponseShape,
  type RoutedResponse,
  readRequest,
  toCallerError,
} from '../forwarding/index.ts';
import { jsonResponseLimits, toText } from '../large-json/index.ts';
import { kindOf, recordedRequestId } from '../providers/index.ts';
import { estimateInputTokens, MessageDigest } from '../wire/index.ts';
import { admitDelegated } from './admit-delegated.ts';
import { createChunkRewriter, LATE_RESPONSE } from './create-chunk-rewriter.ts';
import type { DelegatedDeps } from './delegated-deps.ts';
import type { PublicIdentity } from './rewrite-completion.ts';

interface PublicShapeOptions {
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance, which does not name the provider. */
  readonly isProven: boolean;
  readonly showsUsage: boolean;
}

/** Shapes responses for apps under the public identity `svc`, without any trace of the provider. */
const publicShape = (
  deps: Pick<DelegatedDeps, 'clock' | 'json' | 'signProvenance'>,
  { requestId, isProven, showsUsage }: PublicShapeOptions,
): ResponseShape => {
  const identity: PublicIdentity = {
    id: `chatcmpl-${requestId.slice('req_'.length)}`,
    created: Math.floor(deps.clock() / 1000),
  };
  const requestIdOf = ({ route, upstream }: RoutedResponse, bodyId: unknown): string | null =>
    recordedRequestId({ provider: route.provider, headers: upstream.headers }, bodyId);
  return {
    late: LATE_RESPONSE,
    sendsComments: true,
    openReader: () => ({
      limits: jsonResponseLimits(),
      shape: async (routed, text) => {
        const { contextTokensMax } = routed.route;
        const options = { ...identity, contextTokensMax, digestsMessages: isProven };
        const result = await deps.json.run.rewriteCompletion(text, options);
        const upstreamRequestId = requestIdOf(routed, result.upstreamId);
        const { body, contentSha256 } = result;
        const provenance = isProven ? deps.signProvenance({ requestId, contentSha256 }) : undefined;
        return {
          ...result,
          body: provenance === undefined ? body : withExtensions(body, { provenance }),
          memory: [body],
          headers: {},
          upstreamRequestId,
        };
      },
    }),
    shapeStream: (routed) => {
      const options = { ...identity, showsUsage, tokensMax: routed.route.contextTokensMax };
      const digest = new MessageDigest();
      const editor = createChunkRewriter({
        ...options,
        proof: isProven
          ? { digest, sign: () => deps.signProvenance({ requestId, contentSha256: digest.value() }) }
          : undefined,
        rewriteLarge: (data, calls) =>
          deps.json.run.rewriteLargeEvent(toText(data), { ...options, readsPieces: isProven, calls }),
      });
      return {
        editor,
        tally: editor.tally,
        names: () => ({
          upstreamModel: editor.tally.upstreamModel,
          upstreamRequestId: requestIdOf(routed, editor.upstreamId()),
        }),
      };
    },
  };
};

/** Adds extensions at the end of a JSON object, which is not copied. */
const withExtensions = (body: Buffer, extensions: object): Buffer[] => [
  body.subarray(0, -1),
  Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`),
];

type Context = RequestContext<typeof routes.createDelegatedChatCompletion>;

/** Serves a chat on behalf of a user: admits it, forwards it to the first route that serves it, and settles its usage. */
export const createChatCompletion = async (deps: DelegatedDeps, context: Context): Promise<Reply> => {
  const { caller, requestId, req } = context;
  const request = await readRequest(deps, { req, userId: caller.userId, kind: 'delegated_chat' });
  try {
    const candidates = deps.routes().delegatedChat(deps.clock());
    const [preferred] = candidates;
    if (preferred === undefined) throw new AppError('no_certified_route');
    const tokens = {
      input: estimateInputTokens(request.input, kindOf(preferred.provider)),
      output: outputTokensOf(request, preferred),
    };
    const isUnlimited = canBeFitted(request);
    const { book, holdMicros } = await admitDelegated(deps, {
      requestId,
      caller,
      service: 'chat',
      isStreamed: request.isStreamed,
      estimateMicros: costOfTokens(preferred.price, tokens),
      holdMicros: holdOf(request, candidates),
      ...(isUnlimited ? { holdMinMicros: holdOf(request, candidates, FITTED_TOKENS_MIN) } : {}),
      idempotencyKey: context.headers['idempotency-key'],
    });
    return await forwardRequest(deps, {
      request,
      book,
      candidates,
      path: '/chat/completions',
      outputLimitOf: (route) => (isUnlimited ? affordableOutput(request, route, holdMicros) : undefined),
      shape: publicShape(deps, {
        requestId,
        isProven: context.headers['x-svc-provenance'] !== undefined,
        showsUsage: request.showsUsage,
      }),
      failureResponse: (failure) => failWith(toCallerError('delegated', failure)),
      context,
    });
  } finally {
    request.release();
  }
};
