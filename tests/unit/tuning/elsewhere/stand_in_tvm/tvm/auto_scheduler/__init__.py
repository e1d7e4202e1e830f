from tvm.auto_scheduler import measure, measure_record, search_task, utils, workload_registry
from tvm.auto_scheduler.measure import LocalBuilder, LocalRunner
from tvm.auto_scheduler.measure_record import save_records
from tvm.auto_scheduler.search_task import HardwareParams, SearchTask
from tvm.auto_scheduler.workload_registry import register_workload
