import { createSvcClient } from '../inference/index.ts';
import type { AccessTokenSource } from '../tokens/index.ts';
import { asModelV2 } from './as-model-v2.ts';
import { generate } from './generate.ts';
import { PROVIDER } from './provider-name.ts';
import type { SvcModel, SvcModelV2 } from './specification.ts';
import { stream } from './stream.ts';

export interface SvcOptions {
  /** Base URL of the service, without `/v1`. */
  readonly baseUrl: string;
  /** Access token of one user, or a function that returns a fresh one, such as `userTokens.of(svcUserId)`. */
  readonly accessToken: string | AccessTokenSource;
  /** Allows http to hosts that are not loopback. Never set it in production. */
  readonly allowInsecure?: boolean | undefined;
  /** A replacement for `fetch`, for example one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/** Returns a language model for the Vercel AI SDK 6 and 7. The service chooses the model, so there is no name to give. */
export type Svc = () => SvcModel;

/** Returns a language model for the Vercel AI SDK 5. */
export type SvcV2 = () => SvcModelV2;

/**
 * Creates a provider for the Vercel AI SDK 6 and 7, for one user: `generateText({ model: svc(), prompt })`. Errors are
 * `SvcError`; the AI SDK retries those that nothing was billed for.
 */
export const createSvc = ({ accessToken, ...options }: SvcOptions): Svc => {
  const tokens: AccessTokenSource = typeof accessToken === 'string' ? async () => accessToken : accessToken;
  const client = createSvcClient({ ...options, tokens });
  return () => ({
    specificationVersion: 'v3',
    provider: PROVIDER,
    modelId: PROVIDER,
    // The service fetches no addresses: the AI SDK downloads files and sends their bytes.
    supportedUrls: {},
    doGenerate: (call) => generate(client, call),
    doStream: (call) => stream(client, call),
  });
};

/** Creates a provider for the Vercel AI SDK 5, which takes models of version 2 of its specification only. */
export const createSvcV2 = (options: SvcOptions): SvcV2 => {
  const svc = createSvc(options);
  return () => asModelV2(svc());
};
