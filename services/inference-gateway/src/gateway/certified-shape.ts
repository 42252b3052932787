import { AppError } from '@svc/service-kit';
import type { AnswerShape } from '../completions/index.ts';
import { type ComplianceMode, complianceHeadersOf, stampBody } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { toText } from '../large-json/index.ts';
import { createChunkStamper } from './create-chunk-stamper.ts';
import { namesOf, type ProofDeps, prove, routeAttribution } from './prove.ts';

export interface CertifiedShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  readonly showsUsage: boolean;
}

/** Shapes answers for API keys: the provider's bytes, with proof of provider and model. */
export const certifiedShape = (
  deps: ProofDeps & Pick<InferenceDeps, 'json'>,
  { mode, requestId, showsUsage }: CertifiedShapeOptions,
): AnswerShape => ({
  shapeAnswer: async (routed, text) => {
    const { contextTokensMax } = routed.route;
    const { bytes, result: answer } = await deps.json.runAndKeep('readAnswer', text, { contextTokensMax });
    if (answer.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
    const metadata = prove(deps, requestId, routed, answer);
    return {
      body: mode === 'full' ? stampBody(bytes, answer, metadata) : bytes,
      memory: bytes,
      headers: complianceHeadersOf(metadata),
      usage: answer.usage,
      outputBytes: answer.outputBytes,
      ...namesOf(metadata),
    };
  },
  shapeStream: (routed) => {
    const tokensMax = routed.route.contextTokensMax;
    const editor = createChunkStamper({
      mode,
      showsUsage,
      tokensMax,
      attribution: routeAttribution(deps, requestId, routed),
      readLarge: (data) => deps.json.run('readLargeEvent', toText(data), { tokensMax }),
    });
    return { editor, tally: editor.tally, names: () => namesOf(editor.metadata()) };
  },
});
