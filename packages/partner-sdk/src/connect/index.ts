export { ConnectError, type ConnectErrorReason } from './connect-error.ts';
export { ConnectionEndedError } from './connection-ended-error.ts';
export {
  type BeginOptions,
  type BudgetProposal,
  type ConnectedUser,
  type Connector,
  type ConnectorOptions,
  type ConnectSession,
  type ConnectStart,
  createConnector,
} from './connector.ts';
export type { GrantedBudget, TokenSet } from './token-set.ts';
