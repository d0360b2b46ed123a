export {
  createPlanTest,
  type FakeCall,
  type FakeTool,
  type Fault,
  type MadeCall,
  NotWaitingError,
  type PlanRun,
  type PlanTest,
  StepUnknownError,
  type TestTool,
  type UnitState,
  type WaitingUnit,
} from "./plan-test.ts";
export { type RecordedServer, type RecordedTools, recordedTools } from "./recorded-tools.ts";
