import { AppError } from '@svc/service-kit';
import { type HeldRequest, ownOutputLimit, type ResponseShape } from '../forwarding/index.ts';
import { jsonResponseLimits, toText } from '../large-json/index.ts';
import { namesOf, openStreamProof, prove, routeAttribution, signProof } from './attribution.ts';
import { type ComplianceMode, complianceHeadersOf, stampBody } from './compliance.ts';
import { createChunkStamper } from './create-chunk-stamper.ts';
import type { KeyRequestDeps, ProofDeps } from './key-request-deps.ts';

export interface CertifiedShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance. */
  readonly isProven: boolean;
  readonly request: HeldRequest;
}

/** Shapes responses for API keys: the provider's bytes, with proof of provider and model. */
export const certifiedShape = (
  deps: ProofDeps & Pick<KeyRequestDeps, 'json'>,
  { mode, requestId, isProven, request }: CertifiedShapeOptions,
): ResponseShape => ({
  sendsComments: mode === 'full',
  openReader: () => ({
    limits: jsonResponseLimits(),
    shape: async (routed, text) => {
      const { route } = routed;
      const { bytes, result: response } = await deps.json.runAndKeep.readResponse(text, {
        contextTokensMax: route.contextTokensMax,
        outputTokensMax: ownOutputLimit(request, route),
        digestsMessages: isProven,
      });
      if (response.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
      const metadata = prove(deps, requestId, routed, response);
      const { contentSha256 } = response;
      const provenance = isProven ? signProof(deps, { requestId, route, metadata, contentSha256 }) : undefined;
      return {
        body: mode === 'full' ? stampBody(bytes, response, { compliance_metadata: metadata, provenance }) : bytes,
        memory: [bytes],
        headers: complianceHeadersOf(metadata),
        usage: response.usage,
        outputBytes: response.outputBytes,
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
