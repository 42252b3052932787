export { AppError, type AppErrorOptions, invalidField, invalidRequest } from './app-error.ts';
export {
  type CheckClientSecret,
  createClientAuthenticator,
  createServiceAuthenticator,
} from './authentication/credentials.ts';
export { createKeyCache } from './authentication/key-cache.ts';
export { createKeyText } from './authentication/key-text.ts';
export { digestManagementKey, managementKeyText, toManagementKeyCaller } from './authentication/management-keys.ts';
export { requireRole } from './authentication/memberships.ts';
export { DPOP_ALGORITHMS } from './authentication/proof-of-possession.ts';
export type { RevocationQuery, RevocationView } from './authentication/revocation-view.ts';
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
export { type Clock, systemClock, withDeadline } from './clock.ts';
export { brokerSettings, commonSettings, databaseSettings } from './config/common-settings.ts';
export {
  ConfigError,
  type ConfigFault,
  describeSettings,
  loadConfig,
  logStart,
  renderEnvExample,
  renderSettingsTable,
  type SettingDescription,
} from './config/load-config.ts';
export { type Setting, type SettingMetadata, setting, whenValid } from './config/setting.ts';
export {
  type CallInput,
  type CallResult,
  createInternalClient,
  type InternalClient,
  type InternalClientOptions,
} from './create-internal-client.ts';
export { createMetrics, type Metrics } from './create-metrics.ts';
export { requireRecentAuthentication, type StepUp } from './http/authorize.ts';
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
export {
  createInternalApp,
  createServiceApp,
  type InternalAppOptions,
  listUnboundRoutes,
  type ServiceAppOptions,
} from './http/create-service-app.ts';
export { prefersCsv, sendCsv } from './http/csv.ts';
export { CROSS_ORIGIN_HEADERS } from './http/default-headers.ts';
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
export {
  awaitsContinue,
  continueOnRead,
  findHeadFault,
  followsRefusedHead,
  type HeadFault,
} from './http/request-head.ts';
export { sendJsonStream, type WriteText } from './http/send-reply.ts';
export { acceptedEncodings } from './http/serve-route.ts';
export { parseOrThrow } from './http/validate.ts';
export { whenClosed } from './http/when-closed.ts';
export {
  type ControlledLifecycle,
  createLifecycle,
  type Lifecycle,
  type RunServiceOptions,
  runService,
} from './lifecycle/lifecycle.ts';
export type { Listener, ListenOptions } from './lifecycle/listen.ts';
export { boundPipelining, type Drain, listen, makeDrainable } from './lifecycle/listen.ts';
export { type PeriodicWork, type PeriodicWorkOptions, runPeriodically } from './lifecycle/run-periodically.ts';
export { createLogger, type Logger, type LoggerOptions, reduceError } from './logging/create-logger.ts';
export type { LogFieldName, LogFields } from './logging/log-fields.ts';
export { openTraces, type TraceConfig } from './open-traces.ts';
export { type DerivedKeys, keySetReply, openDerivedKeys, type PublicSigningKey, signClaims } from './signing.ts';
export { contextOf, endSpan, errorCodeOf, isSampled, traceparentOf, tracer, withinSpan } from './traces.ts';
export { UnorderedSet } from './unordered-set.ts';
