"""The options of mpirun, mpiexec and srun and how many words each takes.

Sources: `mpirun --help full` of Open MPI 4.1 and the PRRTE manual of Open MPI 5, `mpiexec --help`
of MPICH's Hydra 4 and 5 and of Intel MPI 2021.18, srun(1) of Slurm 22 to 24.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPENMPI_ONE = _words(
    """
    am app-pmix-prefix app-prefix add-host add-hostfile bind-to c cf cartofile cpu-list cpu-set
    cpus-per-proc cpus-per-rank debugger default-hostfile display dvm-uri exec-agent forward-signals
    fwd-environment gpu-support H host hnp hostfile initial-errhandler keepalive launch-agent
    launcher-hostfile machinefile map-by max-restarts max-vm-size memory-alloc-kinds N n np npernode
    npersocket num-connect-retries ompi-server output output-directory output-filename path
    personality pmix-prefix ppr prefix preload-files pset rank-by rankfile report-events report-pid
    report-uri rf runtime-options spawn-timeout stdin stream-buffering timeout tmpdir tune wd wdir
    with-ft x xml-file xterm
    """
)
OPENMPI_TWO = _words("gmca gpmixmca gprtemca mca omca pmca pmixmca prtemca")
OPENMPI_NONE = _words(
    """
    allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d daemonize debug
    debug-daemons debug-daemons-file debug-devel disable-recovery display-allocation
    display-devel-allocation display-devel-map display-diffable-map display-map display-topo
    do-not-launch do-not-resolve dvm enable-instant-on-support enable-recovery fwd-mpirun-port
    get-stack-traces index-argv-by-rank keep-fqdn-hostnames leave-session-attached
    merge-stderr-to-stdout no-app-prefix no-ready-msg nolocal nooversubscribe noprefix novm
    output-proctable oversubscribe parsable parseable pernode preload-binary q quiet report-bindings
    report-child-jobs-separately report-state-on-timeout s set-cwd-to-session-dir set-sid
    show-progress stop-in-app stop-in-init stop-on-exec tag-output timestamp-output tv
    use-hwthread-cpus use-regexp v verbose xml
    """
)
OPENMPI_REFUSED = frozenset(["app"])
OPENMPI_FOLDER = frozenset(["wd", "wdir"])

HYDRA_ONE = _words(
    """
    bind-to bootstrap bootstrap-exec bootstrap-exec-args branch-count cpu-bind demux envlist
    errfile errfile-pattern f gdb-args genvlist gpus-per-proc grr gtool gtoolfile host hostfile
    hosts hosts-group iface launcher launcher-exec localhost machine machinefile map-by membind
    memory-alloc-kinds n nameserver np order-nodes outfile outfile-pattern path perhost port-range
    ppn prepend-pattern rankmap rmk s tmpdir topolib umask use-app-topology usize wdir
    """
)
HYDRA_TWO = _words("env genv")
HYDRA_NONE = _words(
    """
    aps cleanup disable-auto-cleanup disable-hostname-propagation disable-x enable-x envall envnone
    envuser gdb genvall genvnone genvuser hybrid-hosts ib ilp64 info l mps nolocal ofi
    ordered-output pmi-aggregate pmi-noaggregate pmi-port prepend-rank prepend-timestamp
    print-all-exitcodes print-rank-map profile prot psm psm2 rdma rr silent-abort skip-launch-node
    v verbose
    """
)
HYDRA_REFUSED = _words("configfile")
HYDRA_FOLDER = frozenset(["wdir"])

SRUN_SHORT_ONE = frozenset("ABCDFGJLMNPSTUWbcdegimnopqrtwx")
SRUN_SHORT_NONE = frozenset("EHOQVXZhklsuvK")
SRUN_ONE = _words(
    """
    account acctg-freq bb bbf bcast-exclude begin bell chdir cluster-constraint clusters comment
    constraint container container-id core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu
    cpus-per-task cpu_bind deadline delay-boot dependency distribution epilog error exclude
    export export-file extra extra-node-info gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket
    gpus-per-task gres gres-flags hint het-group input job-name jobid licenses mail-type mail-user
    mcs-label mem mem-bind mem-per-cpu mem-per-gpu mem_bind mincpus mpi msg-timeout
    network nodefile nodelist nodes ntasks ntasks-per-core
    ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output pack-group
    partition power prefer priority profile prolog qos relative reservation
    signal slurmd-debug sockets-per-node switches task-epilog task-prolog tasks-per-node
    thread-spec threads threads-per-core time time-min tmp tres-bind tres-per-job tres-per-node
    tres-per-socket tres-per-task tree-width uid gid wait wckey
    """
)
SRUN_NONE = _words(
    """
    contiguous debugger-test disable-status exact exclusive external get-user-env hold
    immediate interactive join kill-on-bad-exit label nice no-allocate no-kill no-rotate
    oom-kill-step overcommit overlap oversubscribe preserve-env propagate pty quiet
    quit-on-interrupt     reboot resv-ports send-libs share spread-job unbuffered use-min-nodes
    verbose
    whole wrap x11 compress bcast
    """
)
"""Also those with an optional value, which srun takes only after `=`."""
SRUN_REFUSED = frozenset(["multi-prog"])
SRUN_FOLDER = frozenset(["chdir", "D"])

UNKNOWN_LAUNCHERS = _words(
    """
    aprun ccc_mprun dplace flux ibrun jsrun lrun mpijob mpirun_rsh mpiexec_rsh orte-submit poe
    prun prte_submit yod
    """
)
