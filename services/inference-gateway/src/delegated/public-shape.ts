import type { AnswerShape, RoutedAnswer } from '../completions/index.ts';
import { recordedRequestId } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { toText } from '../large-json/index.ts';
import { createChunkRewriter } from './create-chunk-rewriter.ts';
import type { PublicIdentity } from './rewrite-completion.ts';

/** Shapes answers for apps under the public identity `svc`, without any trace of the provider. */
export const publicShape = (
  deps: Pick<InferenceDeps, 'clock' | 'json'>,
  { requestId, showsUsage }: { readonly requestId: string; readonly showsUsage: boolean },
): AnswerShape => {
  const identity: PublicIdentity = {
    id: `chatcmpl-${requestId.slice('req_'.length)}`,
    created: Math.floor(deps.clock() / 1000),
  };
  const requestIdOf = ({ route, upstream }: RoutedAnswer, bodyId: unknown): string | null =>
    recordedRequestId({ provider: route.provider, headers: upstream.headers }, bodyId);
  return {
    shapeAnswer: async (routed, text) => {
      const options = { ...identity, contextTokensMax: routed.route.contextTokensMax };
      const result = await deps.json.run('rewriteCompletion', text, options);
      return { ...result, memory: result.body, headers: {}, upstreamRequestId: requestIdOf(routed, result.upstreamId) };
    },
    shapeStream: (routed) => {
      const options = { ...identity, showsUsage, tokensMax: routed.route.contextTokensMax };
      const editor = createChunkRewriter({
        ...options,
        rewriteLarge: (data) => deps.json.run('rewriteLargeEvent', toText(data), options),
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
