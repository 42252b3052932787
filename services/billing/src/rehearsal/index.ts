export { CALLERS, openStage } from './open-stage.ts';
