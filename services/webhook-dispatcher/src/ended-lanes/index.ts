export { endLane } from './end-lane.ts';
export { startLaneClearing } from './start-lane-clearing.ts';
