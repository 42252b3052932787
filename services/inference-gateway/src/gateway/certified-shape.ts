import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { AnswerShape, RoutedAnswer } from '../completions/index.ts';
import { attribute, type ComplianceMode, complianceHeadersOf, coversModel, stampBody } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { toText } from '../large-json/index.ts';
import { kindOf } from '../providers/index.ts';
import { createChunkStamper } from './create-chunk-stamper.ts';

export interface CertifiedShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  readonly showsUsage: boolean;
}

/** Shapes answers for holders of API keys: byte for byte as the provider's, with proof of who served them. */
export const certifiedShape = (
  deps: Pick<InferenceDeps, 'ingressRegion' | 'clock' | 'json'>,
  { mode, requestId, showsUsage }: CertifiedShapeOptions,
): AnswerShape => {
  const prove = (
    { route, upstream }: RoutedAnswer,
    answer: { readonly id: unknown; readonly model: unknown },
  ): ComplianceMetadata =>
    attribute(
      { route, headers: upstream.headers, id: answer.id, model: answer.model },
      { requestId, ingressRegion: deps.ingressRegion, nowMs: deps.clock() },
    );
  return {
    shapeAnswer: async (routed, text) => {
      const { contextTokensMax } = routed.route;
      const { bytes, result: answer } = await deps.json.runAndKeep('readAnswer', text, { contextTokensMax });
      if (answer.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
      const metadata = prove(routed, answer);
      return {
        body: mode === 'full' ? stampBody(bytes, answer, metadata) : bytes,
        memory: bytes,
        headers: complianceHeadersOf(metadata),
        usage: answer.usage,
        outputBytes: answer.outputBytes,
        upstreamModel: metadata.model,
        upstreamRequestId: metadata.upstream_request_id,
      };
    },
    shapeStream: (routed) => {
      const { route } = routed;
      const tokensMax = route.contextTokensMax;
      const editor = createChunkStamper({
        mode,
        showsUsage,
        tokensMax,
        namesModelLate: kindOf(route.provider).namesModelLate,
        attribute: (chunk) => prove(routed, chunk),
        covers: (model) => coversModel(route.upstreamModel, model),
        readLarge: (data) => deps.json.run('readLargeEvent', toText(data), { tokensMax }),
      });
      return {
        editor,
        tally: editor.tally,
        names: () => {
          const metadata = editor.metadata();
          return {
            upstreamModel: metadata?.model ?? null,
            upstreamRequestId: metadata?.upstream_request_id ?? null,
          };
        },
      };
    },
  };
};
