import { registerHooks } from 'node:module';
import { z } from 'zod';

// Run by a test as a separate process: prints, for several settings, whether tracing is enabled and which OpenTelemetry
// packages are loaded.
const loaded = new Set<string>();
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const [, name] = /node_modules\/(@opentelemetry\/[\w-]+)\/(?!.*node_modules)/.exec(found.url) ?? [];
    // The metrics library loads only the API, a few small modules.
    if (name !== undefined && name !== '@opentelemetry/api') loaded.add(name);
    return found;
  },
});

const { commonSettings, createLifecycle, createLogger, loadConfig, openTraces } = await import('../../src/index.ts');
const { trace } = await import('@opentelemetry/api');
const logger = createLogger({ service: 'auth', level: 'silent' });
const schema = z.object(commonSettings).pick({
  OTEL_TRACES_EXPORTER: true,
  OTEL_EXPORTER_OTLP_ENDPOINT: true,
  OTEL_EXPORTER_OTLP_HEADERS: true,
  OTEL_EXPORTER_OTLP_TIMEOUT: true,
  OTEL_TRACES_SAMPLER_ARG: true,
  OTEL_RESOURCE_ATTRIBUTES: true,
});
const endpoint = 'http://127.0.0.1:9';
const environments = {
  unset: {},
  none: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' },
  endpoint: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
  exporter: { OTEL_TRACES_EXPORTER: 'otlp' },
};

const seen: Record<string, unknown> = {};
for (const [name, environment] of Object.entries(environments)) {
  const life = createLifecycle({ logger });
  await openTraces(life, { service: 'auth', config: loadConfig(schema, environment), logger });
  seen[name] = { isOn: trace.getTracer('test').startSpan('step').isRecording(), loaded: [...loaded] };
  await life.stop();
}
process.stdout.write(JSON.stringify(seen));
