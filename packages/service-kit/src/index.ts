export { AppError, type AppErrorOptions, invalidField, invalidRequest } from './app-error.ts';
export { type CheckClientSecret, createClientAuthenticator } from './authentication/client-credentials.ts';
export { createKeyCache } from './authentication/key-cache.ts';
export { createKeyText } from './authentication/key-text.ts';
export { digestManagementKey, managementKeyText, toManagementKeyCaller } from './authentication/management-keys.ts';
export { requireRole } from './authentication/memberships.ts';
export { DPOP_ALGORITHMS } from './authentication/proof-of-possession.ts';
export type { RevocationQuery, RevocationView } from './authentication/revocation-view.ts';
export { createServiceAuthenticator } from './authentication/service-credential.ts';
export { requireRecentAuthentication, type StepUp } from './authentication/step-up.ts';
export {
  ACCESS_TOKEN_TYPE,
  accessTokenAudience,
  CONSOLE_SESSION_TOKEN_TYPE,
  consoleAudience,
  createTokenAuthenticators,
  type TokenAuthenticators,
  type TokenAuthenticatorsOptions,
} from './authentication/token-authenticators.ts';
export { type BatchingOptions, batchCalls, wasNeverSent } from './batching/batch-calls.ts';
export { type CertificateWatchOptions, watchCertificates } from './certificates.ts';
export {
  type CallInput,
  type CallResult,
  createInternalClient,
  type InternalClient,
  type InternalClientOptions,
} from './client/create-internal-client.ts';
export { withDeadline } from './client/with-deadline.ts';
export { type Clock, systemClock } from './clock.ts';
export { brokerSettings, commonSettings, databaseSettings } from './config/common-settings.ts';
export { ConfigError, type ConfigFault, loadConfig } from './config/load-config.ts';
export {
  describeSettings,
  logStart,
  renderEnvExample,
  renderSettingsTable,
  type SettingDescription,
} from './config/log-start.ts';
export { type Setting, type SettingMetadata, setting } from './config/setting.ts';
export { whenValid } from './config/when-valid.ts';
export type {
  AccessTokenCaller,
  ActingFor,
  ApiKeyCaller,
  Authenticate,
  Authenticators,
  Binding,
  Caller,
  CallerOf,
  ConsoleSessionCaller,
  ManagementKeyCaller,
  Presentation,
  PublicCaller,
  Reply,
  ReplyContent,
  RequestContext,
  ServiceCaller,
} from './http/binding.ts';
export { Act, bind, HANDLED } from './http/binding.ts';
export type { Prepare } from './http/create-app.ts';
export { toOriginForm } from './http/create-app.ts';
export { createInternalApp, type InternalAppOptions } from './http/create-internal-app.ts';
export { createServiceApp, listUnboundRoutes, type ServiceAppOptions } from './http/create-service-app.ts';
export { awaitsContinue, continueOnRead } from './http/expect-continue.ts';
export { findHeadFault, followsRefusedHead, type HeadFault } from './http/head-fault.ts';
export { sendJsonStream, type WriteText } from './http/json-stream.ts';
export { readOauthForm } from './http/parse-body.ts';
export {
  type BodyReading,
  checkMediaType,
  consumeBody,
  freeBuffer,
  mediaType,
  RequestTimeout,
  readBodyBytes,
  STATUS_CALLER_GONE,
} from './http/read-body.ts';
export { acceptedEncodings } from './http/serve-route.ts';
export { parseOrThrow } from './http/validate.ts';
export { whenClosed } from './http/when-closed.ts';
export { type ControlledLifecycle, createLifecycle, type Lifecycle } from './lifecycle/lifecycle.ts';
export type { Listener, ListenOptions } from './lifecycle/listen.ts';
export { type Drain, listen, makeDrainable } from './lifecycle/listen.ts';
export { type PeriodicWork, type PeriodicWorkOptions, runPeriodically } from './lifecycle/run-periodically.ts';
export { type RunServiceOptions, runService } from './lifecycle/run-service.ts';
export { createLogger, type Logger, type LoggerOptions, reduceError } from './logging/create-logger.ts';
export type { LogFieldName, LogFields } from './logging/log-fields.ts';
export { createMetrics, type Metrics } from './metrics/create-metrics.ts';
export { openTraces, type TraceConfig } from './open-traces.ts';
export { type DerivedKeys, openDerivedKeys, type PublicSigningKey } from './signing/derived-keys.ts';
export { keySetReply } from './signing/key-set-reply.ts';
export { signClaims } from './signing/sign-claims.ts';
export { UnorderedSet } from './unordered-set.ts';
