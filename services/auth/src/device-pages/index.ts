export { askedDeviceSchema } from './asked-device.ts';
export { devicePageRoutes } from './routes.ts';
