// Loaded before a service (NODE_OPTIONS=--import): makes its wall clock jump, at the start and once while it
// runs.
const { CLOCK_OFFSET_MS = "0", CLOCK_JUMP_MS = "0", CLOCK_JUMP_AFTER_MS = "1000" } = process.env;
const RealDate = Date;
let offset = Number(CLOCK_OFFSET_MS);
setTimeout(() => {
  offset += Number(CLOCK_JUMP_MS);
}, Number(CLOCK_JUMP_AFTER_MS)).unref();

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + offset);
    else super(...parts);
  }
  static now() {
    return RealDate.now() + offset;
  }
};
