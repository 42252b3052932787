import { defineSvcConnect } from './svc-connect-element.ts';

export { defineSvcConnect, SvcConnectElement, type SvcConnectEvents } from './svc-connect-element.ts';

defineSvcConnect();
