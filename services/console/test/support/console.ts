import { createLogger, createMetrics, type Listener, listen } from '@svc/service-kit';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { createAssetStore, createPublicPages, createWebHandler } from '../../src/server/index.ts';
import { createMockApi, createState, type Faults, type MockState } from './mock-api/index.ts';

/** The console before a mock of the API, at one origin as behind the ingress. */
export interface TestConsole {
  readonly url: string;
  /** Empty before each test. */
  readonly state: MockState;
  readonly faults: Faults;
}

/** Paths that belong to the services. */
const API_PATH = /^\/(v1|sandbox|\.well-known|sign-in)([/?]|$)/;

/** Starts the console for the tests of one file. */
export const useConsole = (
  options: { without?: readonly string[]; assetsDirectory?: () => string } = {},
): TestConsole => {
  const { assetsDirectory = () => inject('assetsDirectory'), ...mocked } = options;
  const state = createState();
  const faults: Faults = { once: new Map(), delayMs: new Map() };
  let listener: Listener | undefined;
  beforeAll(async () => {
    const api = createMockApi({ state, faults, ...mocked });
    const web = createWebHandler({
      assets: createAssetStore(assetsDirectory()),
      logger: createLogger({ service: 'console', level: 'fatal' }),
      metrics: createMetrics('console'),
      isHttps: false,
      findPublicPage: createPublicPages({ termsUrl: undefined, privacyUrl: undefined }, { isHttps: false }),
      sampleAppUrl: undefined,
    });
    listener = await listen((req, res) => (API_PATH.test(req.url ?? '') ? api(req, res) : web(req, res)), {
      port: 0,
      host: '127.0.0.1',
    });
  });
  afterAll(() => listener?.drain(0));
  beforeEach(() => {
    for (const part of Object.values(state)) part.clear();
    faults.once.clear();
    faults.delayMs.clear();
  });
  return {
    get url() {
      if (listener === undefined) throw new Error('the console is not started yet');
      return listener.url;
    },
    state,
    faults,
  };
};

/** The same console by the host name at which browsers allow passkeys. */
export const atLocalhost = ({ url, state, faults }: TestConsole): TestConsole => ({
  url: url.replace('127.0.0.1', 'localhost'),
  state,
  faults,
});
