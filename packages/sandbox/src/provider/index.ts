export type { ProviderCounts } from './counts.ts';
export { countTokens } from './generate-answer.ts';
export { createSandboxProvider, type SandboxProvider, type SandboxProviderOptions } from './sandbox-provider.ts';
