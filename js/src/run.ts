/** A model without a view: it carries the questions of the views to the run, and its replies back. */
export default { initialize() {} };
