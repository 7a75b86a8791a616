/* Objects of MPI 1 to 4.1 that programs use beside their messages: names and types only. */
#ifndef IMBREX_TRANSFORM_MPI_OBJECTS_H
#define IMBREX_TRANSFORM_MPI_OBJECTS_H

typedef struct imbrex_session *MPI_Session;
typedef MPI_Copy_function MPI_Comm_copy_attr_function;
typedef MPI_Delete_function MPI_Comm_delete_attr_function;
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);
typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *, int *, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *, int *, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);

/* Communicators, groups and topologies. */
int MPI_Cart_map(MPI_Comm, int, const int *, const int *, int *);
int MPI_Cart_sub(MPI_Comm, const int *, MPI_Comm *);
int MPI_Cartdim_get(MPI_Comm, int *);
int MPI_Comm_accept(const char *, MPI_Info, int, MPI_Comm, MPI_Comm *);
int MPI_Comm_attach_buffer(MPI_Comm, void *, int);
int MPI_Comm_call_errhandler(MPI_Comm, int);
int MPI_Comm_compare(MPI_Comm, MPI_Comm, int *);
int MPI_Comm_connect(const char *, MPI_Info, int, MPI_Comm, MPI_Comm *);
int MPI_Comm_create(MPI_Comm, MPI_Group, MPI_Comm *);
int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *, MPI_Errhandler *);
int MPI_Comm_create_from_group(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);
int MPI_Comm_create_group(MPI_Comm, MPI_Group, int, MPI_Comm *);
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *,
                           void *);
int MPI_Comm_delete_attr(MPI_Comm, int);
int MPI_Comm_detach_buffer(MPI_Comm, void *, int *);
int MPI_Comm_disconnect(MPI_Comm *);
int MPI_Comm_dup_with_info(MPI_Comm, MPI_Info, MPI_Comm *);
int MPI_Comm_flush_buffer(MPI_Comm);
int MPI_Comm_free_keyval(int *);
int MPI_Comm_get_attr(MPI_Comm, int, void *, int *);
int MPI_Comm_get_errhandler(MPI_Comm, MPI_Errhandler *);
int MPI_Comm_get_info(MPI_Comm, MPI_Info *);
int MPI_Comm_get_name(MPI_Comm, char *, int *);
int MPI_Comm_get_parent(MPI_Comm *);
int MPI_Comm_group(MPI_Comm, MPI_Group *);
int MPI_Comm_idup(MPI_Comm, MPI_Comm *, MPI_Request *);
int MPI_Comm_idup_with_info(MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *);
int MPI_Comm_iflush_buffer(MPI_Comm, MPI_Request *);
int MPI_Comm_join(int, MPI_Comm *);
int MPI_Comm_remote_group(MPI_Comm, MPI_Group *);
int MPI_Comm_remote_size(MPI_Comm, int *);
int MPI_Comm_set_attr(MPI_Comm, int, void *);
int MPI_Comm_set_info(MPI_Comm, MPI_Info);
int MPI_Comm_set_name(MPI_Comm, const char *);
int MPI_Comm_spawn(const char *, char **, int, MPI_Info, int, MPI_Comm, MPI_Comm *, int *);
int MPI_Comm_spawn_multiple(int, char **, char ***, const int *, const MPI_Info *, int, MPI_Comm,
                            MPI_Comm *, int *);
int MPI_Comm_test_inter(MPI_Comm, int *);
int MPI_Dist_graph_create(MPI_Comm, int, const int *, const int *, const int *, const int *,
                          MPI_Info, int, MPI_Comm *);
int MPI_Dist_graph_create_adjacent(MPI_Comm, int, const int *, const int *, int, const int *,
                                   const int *, MPI_Info, int, MPI_Comm *);
int MPI_Dist_graph_neighbors(MPI_Comm, int, int *, int *, int, int *, int *);
int MPI_Dist_graph_neighbors_count(MPI_Comm, int *, int *, int *);
int MPI_Graph_create(MPI_Comm, int, const int *, const int *, int, MPI_Comm *);
int MPI_Graph_get(MPI_Comm, int, int, int *, int *);
int MPI_Graph_map(MPI_Comm, int, const int *, const int *, int *);
int MPI_Graph_neighbors(MPI_Comm, int, int, int *);
int MPI_Graph_neighbors_count(MPI_Comm, int, int *);
int MPI_Graphdims_get(MPI_Comm, int *, int *);
int MPI_Group_compare(MPI_Group, MPI_Group, int *);
int MPI_Group_difference(MPI_Group, MPI_Group, MPI_Group *);
int MPI_Group_excl(MPI_Group, int, const int *, MPI_Group *);
int MPI_Group_free(MPI_Group *);
int MPI_Group_from_session_pset(MPI_Session, const char *, MPI_Group *);
int MPI_Group_incl(MPI_Group, int, const int *, MPI_Group *);
int MPI_Group_intersection(MPI_Group, MPI_Group, MPI_Group *);
int MPI_Group_range_excl(MPI_Group, int, int (*)[3], MPI_Group *);
int MPI_Group_range_incl(MPI_Group, int, int (*)[3], MPI_Group *);
int MPI_Group_rank(MPI_Group, int *);
int MPI_Group_size(MPI_Group, int *);
int MPI_Group_translate_ranks(MPI_Group, int, const int *, MPI_Group, int *);
int MPI_Group_union(MPI_Group, MPI_Group, MPI_Group *);
int MPI_Intercomm_create(MPI_Comm, int, MPI_Comm, int, int, MPI_Comm *);
int MPI_Intercomm_create_from_groups(MPI_Group, int, MPI_Group, int, const char *, MPI_Info,
                                     MPI_Errhandler, MPI_Comm *);
int MPI_Intercomm_merge(MPI_Comm, int, MPI_Comm *);
int MPI_Topo_test(MPI_Comm, int *);

/* Datatypes, packing, statuses and addresses. */
MPI_Aint MPI_Aint_add(MPI_Aint, MPI_Aint);
MPI_Aint MPI_Aint_diff(MPI_Aint, MPI_Aint);
int MPI_Get_elements(const MPI_Status *, MPI_Datatype, int *);
int MPI_Get_elements_x(const MPI_Status *, MPI_Datatype, MPI_Count *);
int MPI_Pack(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);
int MPI_Pack_external(const char *, const void *, int, MPI_Datatype, void *, MPI_Aint, MPI_Aint *);
int MPI_Pack_external_size(const char *, int, MPI_Datatype, MPI_Aint *);
int MPI_Pack_size(int, MPI_Datatype, MPI_Comm, int *);
int MPI_Status_get_error(const MPI_Status *, int *);
int MPI_Status_get_source(const MPI_Status *, int *);
int MPI_Status_get_tag(const MPI_Status *, int *);
int MPI_Status_set_cancelled(MPI_Status *, int);
int MPI_Status_set_elements(MPI_Status *, MPI_Datatype, int);
int MPI_Status_set_elements_x(MPI_Status *, MPI_Datatype, MPI_Count);
int MPI_Status_set_error(MPI_Status *, int);
int MPI_Status_set_source(MPI_Status *, int);
int MPI_Status_set_tag(MPI_Status *, int);
int MPI_Test_cancelled(const MPI_Status *, int *);
int MPI_Type_create_darray(int, int, int, const int *, const int *, const int *, const int *, int,
                           MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_f90_complex(int, int, MPI_Datatype *);
int MPI_Type_create_f90_integer(int, MPI_Datatype *);
int MPI_Type_create_f90_real(int, int, MPI_Datatype *);
int MPI_Type_create_hindexed(int, const int *, const MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_hindexed_block(int, int, const MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_indexed_block(int, int, const int *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_keyval(MPI_Type_copy_attr_function *, MPI_Type_delete_attr_function *, int *,
                           void *);
int MPI_Type_delete_attr(MPI_Datatype, int);
int MPI_Type_dup(MPI_Datatype, MPI_Datatype *);
int MPI_Type_free_keyval(int *);
int MPI_Type_get_attr(MPI_Datatype, int, void *, int *);
int MPI_Type_get_contents(MPI_Datatype, int, int, int, int *, MPI_Aint *, MPI_Datatype *);
int MPI_Type_get_envelope(MPI_Datatype, int *, int *, int *, int *);
int MPI_Type_get_extent(MPI_Datatype, MPI_Aint *, MPI_Aint *);
int MPI_Type_get_extent_x(MPI_Datatype, MPI_Count *, MPI_Count *);
int MPI_Type_get_name(MPI_Datatype, char *, int *);
int MPI_Type_get_true_extent(MPI_Datatype, MPI_Aint *, MPI_Aint *);
int MPI_Type_get_true_extent_x(MPI_Datatype, MPI_Count *, MPI_Count *);
int MPI_Type_get_value_index(MPI_Datatype, MPI_Datatype, MPI_Datatype *);
int MPI_Type_match_size(int, int, MPI_Datatype *);
int MPI_Type_set_attr(MPI_Datatype, int, void *);
int MPI_Type_set_name(MPI_Datatype, const char *);
int MPI_Type_size_x(MPI_Datatype, MPI_Count *);
int MPI_Unpack(const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Unpack_external(const char *, const void *, MPI_Aint, MPI_Aint *, void *, int,
                        MPI_Datatype);

/* Windows and memory. */
int MPI_Alloc_mem(MPI_Aint, MPI_Info, void *);
int MPI_Free_mem(void *);
int MPI_Win_allocate_shared(MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *);
int MPI_Win_attach(MPI_Win, void *, MPI_Aint);
int MPI_Win_call_errhandler(MPI_Win, int);
int MPI_Win_create_dynamic(MPI_Info, MPI_Comm, MPI_Win *);
int MPI_Win_create_errhandler(MPI_Win_errhandler_function *, MPI_Errhandler *);
int MPI_Win_create_keyval(MPI_Win_copy_attr_function *, MPI_Win_delete_attr_function *, int *,
                          void *);
int MPI_Win_delete_attr(MPI_Win, int);
int MPI_Win_detach(MPI_Win, const void *);
int MPI_Win_free_keyval(int *);
int MPI_Win_get_attr(MPI_Win, int, void *, int *);
int MPI_Win_get_errhandler(MPI_Win, MPI_Errhandler *);
int MPI_Win_get_group(MPI_Win, MPI_Group *);
int MPI_Win_get_info(MPI_Win, MPI_Info *);
int MPI_Win_get_name(MPI_Win, char *, int *);
int MPI_Win_set_attr(MPI_Win, int, void *);
int MPI_Win_set_errhandler(MPI_Win, MPI_Errhandler);
int MPI_Win_set_info(MPI_Win, MPI_Info);
int MPI_Win_set_name(MPI_Win, const char *);
int MPI_Win_shared_query(MPI_Win, int, MPI_Aint *, int *, void *);

/* Partitioned and generalized requests. */
int MPI_Grequest_complete(MPI_Request);
int MPI_Grequest_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                       MPI_Grequest_cancel_function *, void *, MPI_Request *);
int MPI_Parrived(MPI_Request, int, int *);
int MPI_Pready(int, MPI_Request);
int MPI_Pready_list(int, int *, MPI_Request);
int MPI_Pready_range(int, int, MPI_Request);
int MPI_Precv_init(void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                   MPI_Request *);
int MPI_Psend_init(const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                   MPI_Request *);

/* The environment: errors, infos, names, sessions. */
int MPI_Add_error_class(int *);
int MPI_Add_error_code(int, int *);
int MPI_Add_error_string(int, const char *);
int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request *);
int MPI_Close_port(const char *);
int MPI_Errhandler_free(MPI_Errhandler *);
int MPI_Error_class(int, int *);
int MPI_Get_hw_resource_info(MPI_Info *);
int MPI_Get_library_version(char *, int *);
int MPI_Get_version(int *, int *);
int MPI_Info_create(MPI_Info *);
int MPI_Info_create_env(int, char **, MPI_Info *);
int MPI_Info_delete(MPI_Info, const char *);
int MPI_Info_dup(MPI_Info, MPI_Info *);
int MPI_Info_free(MPI_Info *);
int MPI_Info_get(MPI_Info, const char *, int, char *, int *);
int MPI_Info_get_nkeys(MPI_Info, int *);
int MPI_Info_get_nthkey(MPI_Info, int, char *);
int MPI_Info_get_string(MPI_Info, const char *, int *, char *, int *);
int MPI_Info_get_valuelen(MPI_Info, const char *, int *, int *);
int MPI_Info_set(MPI_Info, const char *, const char *);
int MPI_Is_thread_main(int *);
int MPI_Lookup_name(const char *, MPI_Info, char *);
int MPI_Op_commutative(MPI_Op, int *);
int MPI_Open_port(MPI_Info, char *);
int MPI_Publish_name(const char *, MPI_Info, const char *);
int MPI_Query_thread(int *);
int MPI_Reduce_local(const void *, void *, int, MPI_Datatype, MPI_Op);
int MPI_Remove_error_class(int);
int MPI_Remove_error_code(int);
int MPI_Remove_error_string(int);
int MPI_Session_attach_buffer(MPI_Session, void *, int);
int MPI_Session_call_errhandler(MPI_Session, int);
int MPI_Session_create_errhandler(MPI_Session_errhandler_function *, MPI_Errhandler *);
int MPI_Session_detach_buffer(MPI_Session, void *, int *);
int MPI_Session_finalize(MPI_Session *);
int MPI_Session_flush_buffer(MPI_Session);
int MPI_Session_get_errhandler(MPI_Session, MPI_Errhandler *);
int MPI_Session_get_info(MPI_Session, MPI_Info *);
int MPI_Session_get_nth_pset(MPI_Session, MPI_Info, int, int *, char *);
int MPI_Session_get_num_psets(MPI_Session, MPI_Info, int *);
int MPI_Session_get_pset_info(MPI_Session, const char *, MPI_Info *);
int MPI_Session_iflush_buffer(MPI_Session, MPI_Request *);
int MPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session *);
int MPI_Session_set_errhandler(MPI_Session, MPI_Errhandler);
int MPI_Session_set_info(MPI_Session, MPI_Info);
int MPI_Unpublish_name(const char *, MPI_Info, const char *);

#endif
