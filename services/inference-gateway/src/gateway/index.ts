export { createKeyStandings, type KeyStandings } from './key-standings.ts';
export { gatewayRoutes } from './routes.ts';
