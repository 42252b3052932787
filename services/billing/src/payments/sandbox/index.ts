export { renewDue } from './advance-subscription.ts';
export { announceChanges, type SandboxDeps, type SandboxListener } from './announce-changes.ts';
export { type SandboxRouteDeps, sandboxRoutes } from './routes.ts';
export { createSandboxProvider } from './sandbox-provider.ts';
