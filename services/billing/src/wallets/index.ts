export { creditWallet } from './credit-wallet.ts';
export { readWallet } from './read-wallet.ts';
export { walletRoutes } from './routes.ts';
