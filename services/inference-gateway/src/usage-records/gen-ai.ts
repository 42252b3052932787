import type { Attributes } from '@opentelemetry/api';
import type { Metrics } from '@svc/service-kit';
import { operationName } from '../provider-routes/index.ts';
import type { RequestEnd, UsageRecord } from './usage-record.ts';

/** Seconds, from the OpenTelemetry semantic conventions for generative AI, as are the other buckets. */
const OPERATION_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const CHUNK_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = Array.from({ length: 12 }, (_, exponent) => 4 ** exponent);

/** Returns what the end of a request adds to the span of its exchange with the provider. */
export const usageAttributes = (end: RequestEnd): Attributes => ({
  'gen_ai.response.model': end.upstreamModel ?? undefined,
  'gen_ai.usage.input_tokens': end.inputTokens ?? undefined,
  'gen_ai.usage.output_tokens': end.outputTokens ?? undefined,
  'gen_ai.usage.cache_read.input_tokens': end.cachedInputTokens ?? undefined,
});

const LABELS = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const;

/**
 * Returns an observer of requests that reached a provider: `gen_ai.client.operation.duration`, `.token.usage` and
 * `.operation.time_to_first_chunk`, under the names that Prometheus gives them.
 */
export const createInferenceMeters = (metrics: Metrics): ((record: UsageRecord) => void) => {
  const seconds = metrics.histogram({
    name: 'gen_ai_client_operation_duration_seconds',
    help: 'Seconds from the request of the caller to the end of the response.',
    labelNames: [...LABELS, 'error_type'],
    buckets: OPERATION_SECONDS,
  });
  const firstChunk = metrics.histogram({
    name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
    help: 'Seconds from the request of the caller to the first event of a streamed answer.',
    labelNames: LABELS,
    buckets: CHUNK_SECONDS,
  });
  const tokens = metrics.histogram({
    name: 'gen_ai_client_token_usage',
    help: 'Tokens of a request, by type.',
    labelNames: [...LABELS, 'gen_ai_token_type'],
    buckets: TOKENS,
  });
  const bind = (labels: Readonly<Record<(typeof LABELS)[number], string>>, error_type: string) => ({
    seconds: seconds.labels({ ...labels, error_type }),
    firstChunk: firstChunk.labels(labels),
    input: tokens.labels({ ...labels, gen_ai_token_type: 'input' }),
    output: tokens.labels({ ...labels, gen_ai_token_type: 'output' }),
  });
  // Looking a metric up by labels takes longer than observing, so each label set is looked up once.
  const known = new Map<string, ReturnType<typeof bind>>();
  return (record) => {
    if (record.servedBy === null) return;
    const { provider } = record.servedBy;
    // An empty label is one that is absent.
    const errorType = record.outcome === 'settled' ? '' : record.outcome;
    const name = `${record.service} ${provider} ${record.model} ${errorType}`;
    const bound =
      known.get(name) ??
      bind(
        {
          gen_ai_operation_name: operationName(record.service),
          gen_ai_provider_name: provider,
          gen_ai_request_model: record.model,
        },
        errorType,
      );
    known.set(name, bound);
    bound.seconds.observe((record.finishedAtMs - record.startedAtMs) / 1_000);
    if (record.firstEventMs !== null) bound.firstChunk.observe(record.firstEventMs / 1_000);
    if (record.inputTokens !== null) bound.input.observe(record.inputTokens);
    if (record.outputTokens !== null) bound.output.observe(record.outputTokens);
  };
};
