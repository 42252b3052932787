import type { ComplianceMetadata } from '@svc/contracts';
import type { RoutedAnswer, UpstreamNames } from '../completions/index.ts';
import { attribute, coversModel } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { kindOf } from '../providers/index.ts';
import { type Attribution, createAttribution } from './stream-attribution.ts';

export type ProofDeps = Pick<InferenceDeps, 'ingressRegion' | 'clock'>;

/** Proves the provider and model of an answer. Throws AppError if the proof is incomplete or ambiguous. */
export const prove = (
  deps: ProofDeps,
  requestId: string,
  { route, upstream }: RoutedAnswer,
  answer: { readonly id: unknown; readonly model: unknown },
): ComplianceMetadata =>
  attribute(
    { route, headers: upstream.headers, id: answer.id, model: answer.model },
    { requestId, ingressRegion: deps.ingressRegion, nowMs: deps.clock() },
  );

/** Creates the attribution of a route's stream. */
export const routeAttribution = (deps: ProofDeps, requestId: string, routed: RoutedAnswer): Attribution =>
  createAttribution({
    namesModelLate: kindOf(routed.route.provider).namesModelLate,
    attribute: (chunk) => prove(deps, requestId, routed, chunk),
    covers: (model) => coversModel(routed.route.upstreamModel, model),
  });

/** Returns the names to record for an answer. */
export const namesOf = (metadata: ComplianceMetadata | undefined): UpstreamNames => ({
  upstreamModel: metadata?.model ?? null,
  upstreamRequestId: metadata?.upstream_request_id ?? null,
});
