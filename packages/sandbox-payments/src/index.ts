export { type RouteDeps, sandboxPaymentRoutes } from './routes.ts';
export { runSandboxPayments } from './run-sandbox-payments.ts';
export { createSandboxPaymentProvider } from './sandbox-payment-provider.ts';
