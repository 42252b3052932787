import type { AnswerShape, RoutedAnswer } from '../completions/index.ts';
import { recordedRequestId } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { jsonAnswerLimits, toText } from '../large-json/index.ts';
import { MessageDigest } from '../wire/index.ts';
import { createChunkRewriter, LATE_ANSWER } from './create-chunk-rewriter.ts';
import type { PublicIdentity } from './rewrite-completion.ts';

export interface PublicShapeOptions {
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance, which does not name the provider. */
  readonly isProven: boolean;
  readonly showsUsage: boolean;
}

/** Shapes answers for apps under the public identity `svc`, without any trace of the provider. */
export const publicShape = (
  deps: Pick<InferenceDeps, 'clock' | 'json' | 'signProvenance'>,
  { requestId, isProven, showsUsage }: PublicShapeOptions,
): AnswerShape => {
  const identity: PublicIdentity = {
    id: `chatcmpl-${requestId.slice('req_'.length)}`,
    created: Math.floor(deps.clock() / 1000),
  };
  const requestIdOf = ({ route, upstream }: RoutedAnswer, bodyId: unknown): string | null =>
    recordedRequestId({ provider: route.provider, headers: upstream.headers }, bodyId);
  return {
    late: LATE_ANSWER,
    sendsComments: true,
    openReader: () => ({
      limits: jsonAnswerLimits(),
      shape: async (routed, text) => {
        const { contextTokensMax } = routed.route;
        const options = { ...identity, contextTokensMax, digestsMessages: isProven };
        const result = await deps.json.run('rewriteCompletion', text, options);
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
          deps.json.run('rewriteLargeEvent', toText(data), { ...options, readsPieces: isProven, calls }),
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
