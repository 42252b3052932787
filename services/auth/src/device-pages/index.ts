export { askedDeviceSchema } from './device-frame.ts';
export { devicePageRoutes } from './routes.ts';
