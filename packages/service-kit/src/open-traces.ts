import { parsePairs, startTracing } from '@svc/tracing';
import type { z } from 'zod';
import type { commonSettings } from './config/common-settings.ts';
import type { Lifecycle } from './lifecycle/lifecycle.ts';
import type { Logger } from './logging/create-logger.ts';

type TraceSettingName =
  | 'OTEL_TRACES_EXPORTER'
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_EXPORTER_OTLP_TIMEOUT'
  | 'OTEL_TRACES_SAMPLER_ARG'
  | 'OTEL_RESOURCE_ATTRIBUTES';

/** The trace settings among those of every service. */
export type TraceConfig = { readonly [name in TraceSettingName]: z.output<(typeof commonSettings)[name]> };

const LOCAL_COLLECTOR = 'http://127.0.0.1:4318';

/**
 * Enables tracing if the configuration asks for it. Call it before opening anything that is to be traced: it closes
 * last, so that the shutdown of the rest is in the traces.
 */
export const openTraces = async (
  life: Lifecycle,
  { service, config, logger }: { service: string; config: TraceConfig; logger: Logger },
): Promise<void> => {
  const endpoint = collectorOf(config);
  if (endpoint === undefined) return;
  const traces = await startTracing({
    service,
    endpoint,
    headers: parsePairs(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT,
    ratio: Number(config.OTEL_TRACES_SAMPLER_ARG),
    resourceAttributes: parsePairs(config.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    onExport: reportChanges(logger),
  });
  life.onStop('traces', async () => {
    // An unavailable collector must not turn a clean stop into a failed one.
    if (!(await traces.stop())) logger.warn({ component: 'traces' }, 'the last spans were not sent');
  });
};

const collectorOf = (config: TraceConfig): string | undefined => {
  switch (config.OTEL_TRACES_EXPORTER) {
    case 'none':
      return undefined;
    case 'otlp':
      return config.OTEL_EXPORTER_OTLP_ENDPOINT ?? LOCAL_COLLECTOR;
    case undefined:
      return config.OTEL_EXPORTER_OTLP_ENDPOINT;
  }
};

/** Logs one line when the collector stops accepting spans and one when it recovers, instead of one per batch. */
const reportChanges = (logger: Logger): ((failure: Error | undefined) => void) => {
  let isFailing = false;
  return (failure) => {
    if (isFailing === (failure !== undefined)) return;
    isFailing = failure !== undefined;
    if (failure === undefined) logger.info({ component: 'traces' }, 'the collector takes spans again');
    else logger.warn({ component: 'traces', err: failure }, 'the collector does not take spans; they are lost');
  };
};
