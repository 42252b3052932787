import { AppError } from '@svc/service-kit';
import type { AnswerShape, RequestBounds } from '../../completions/index.ts';
import { usageSoFar } from '../../completions/index.ts';
import { type ComplianceMode, complianceHeadersOf } from '../../compliance/index.ts';
import type { InferenceDeps } from '../../inference-deps.ts';
import { jsonAnswerLimits, toText } from '../../large-json/index.ts';
import { namesOf, openStreamProof, type ProofDeps, prove, routeAttribution, signProof } from '../prove.ts';
import { createResponseStream } from './create-response-stream.ts';
import type { ResponseEcho } from './response-echo.ts';
import { type ResponseIdentity, responseAround } from './response-object.ts';

export interface ResponseShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance. */
  readonly isProven: boolean;
  readonly request: RequestBounds;
  readonly echo: ResponseEcho;
}

/** Shapes answers of chat routes as responses, with proof of provider and model. */
export const responseShape = (
  deps: ProofDeps & Pick<InferenceDeps, 'json' | 'streamLimits'>,
  { mode, requestId, isProven, request, echo }: ResponseShapeOptions,
): AnswerShape => {
  const tail = requestId.slice('req_'.length);
  const identity: ResponseIdentity = { tail, createdAt: Math.floor(deps.clock() / 1000), echo };
  const showsMetadata = mode === 'full';
  return {
    // The events are ours in every mode.
    sendsComments: true,
    openReader: () => ({
      limits: jsonAnswerLimits(),
      shape: async (routed, text) => {
        const { route } = routed;
        const options = { tail, contextTokensMax: route.contextTokensMax, digestsMessages: isProven };
        const answer = await deps.json.run('readChatAnswer', text, options);
        if (answer.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
        const metadata = prove(deps, requestId, routed, answer);
        const { usage, outputBytes, incompleteReason, contentSha256 } = answer;
        const [before, after] = responseAround(identity, {
          status: incompleteReason === undefined ? 'completed' : 'incomplete',
          model: metadata.model,
          usage: usageSoFar(request, { route, reported: usage, outputBytes }),
          incompleteReason,
          metadata: showsMetadata ? metadata : undefined,
          provenance: isProven ? signProof(deps, { requestId, route, metadata, contentSha256 }) : undefined,
        });
        return {
          body: [Buffer.from(before), answer.body, Buffer.from(after)],
          memory: [answer.body],
          headers: complianceHeadersOf(metadata),
          usage,
          outputBytes,
          ...namesOf(metadata),
        };
      },
    }),
    shapeStream: (routed) => {
      const { route } = routed;
      const tokensMax = route.contextTokensMax;
      const editor = createResponseStream({
        identity,
        showsMetadata,
        tokensMax,
        attribution: routeAttribution(deps, requestId, routed),
        proof: isProven ? openStreamProof(deps, requestId, routed) : undefined,
        bytesMax: deps.streamLimits.eventBytesMax,
        usageOf: ({ usage: reported, outputBytes }) => usageSoFar(request, { route, reported, outputBytes }),
        readLarge: async (data) => (await deps.json.run('readLargeChatChunk', toText(data), { tokensMax })).reading,
      });
      return { editor, tally: editor.tally, names: () => namesOf(editor.metadata()) };
    },
  };
};
