export { connectRoutes } from './connect-routes.ts';
export { createPartner, type Partner } from './partner.ts';
