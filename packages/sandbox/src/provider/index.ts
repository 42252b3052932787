export { countTokens } from './count-tokens.ts';
export type { ProviderCounts } from './counts.ts';
export { createSandboxProvider, type SandboxProvider, type SandboxProviderOptions } from './sandbox-provider.ts';
