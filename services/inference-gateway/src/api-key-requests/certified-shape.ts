import { AppError } from '@svc/service-kit';
import { type AnswerShape, type CompletionRequest, ownOutputLimit } from '../forwarding/index.ts';
import { jsonAnswerLimits, toText } from '../large-json/index.ts';
import { namesOf, openStreamProof, type ProofDeps, prove, routeAttribution, signProof } from './attribution.ts';
import { type ComplianceMode, complianceHeadersOf, stampBody } from './compliance.ts';
import { createChunkStamper } from './create-chunk-stamper.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';

export interface CertifiedShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance. */
  readonly isProven: boolean;
  readonly request: CompletionRequest;
}

/** Shapes answers for API keys: the provider's bytes, with proof of provider and model. */
export const certifiedShape = (
  deps: ProofDeps & Pick<KeyRequestDeps, 'json'>,
  { mode, requestId, isProven, request }: CertifiedShapeOptions,
): AnswerShape => ({
  sendsComments: mode === 'full',
  openReader: () => ({
    limits: jsonAnswerLimits(),
    shape: async (routed, text) => {
      const { route } = routed;
      const { bytes, result: answer } = await deps.json.runAndKeep.readAnswer(text, {
        contextTokensMax: route.contextTokensMax,
        outputTokensMax: ownOutputLimit(request, route),
        digestsMessages: isProven,
      });
      if (answer.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
      const metadata = prove(deps, requestId, routed, answer);
      const { contentSha256 } = answer;
      const provenance = isProven ? signProof(deps, { requestId, route, metadata, contentSha256 }) : undefined;
      return {
        body: mode === 'full' ? stampBody(bytes, answer, { compliance_metadata: metadata, provenance }) : bytes,
        memory: [bytes],
        headers: complianceHeadersOf(metadata),
        usage: answer.usage,
        outputBytes: answer.outputBytes,
        ...namesOf(metadata),
      };
    },
  }),
  shapeStream: (routed) => {
    const tokensMax = routed.route.contextTokensMax;
    const editor = createChunkStamper({
      mode,
      showsUsage: request.showsUsage,
      tokensMax,
      attribution: routeAttribution(deps, requestId, routed),
      proof: isProven ? openStreamProof(deps, requestId, routed) : undefined,
      readLarge: (data) => deps.json.run.readLargeEvent(toText(data), { tokensMax, readsPieces: isProven }),
    });
    return { editor, tally: editor.tally, names: () => namesOf(editor.metadata()) };
  },
});
